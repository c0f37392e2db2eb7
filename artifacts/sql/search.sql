-- Searches: each gives the n best passages, best first, and equal ones in the order of the passages.

-- BM25F over the fields of a passage and its document: the sum of each term's scores, as the build computed them.
create or replace macro keyword_search(query, n) as table
with hits as (
    select passage, sum(score) as score
    from (
        select unnest(passage) as passage, unnest(score)::double as score
        from postings semi join query_terms(without_stop_words(query)) using (term)
    )
    group by passage order by score desc, passage limit n
)
select row_number() over (order by score desc, passage) as rank, score, passage_id, doc_id, breadcrumb, text, passage
from hits join passages using (passage) order by rank;
comment on macro table keyword_search is 'The n passages with the highest BM25F scores for the words of a query.';

create or replace macro code_search(query, n) as table
with hits as (
    select passage, sum(score) as score
    from (
        select unnest(passage) as passage, unnest(score)::double as score
        from code_postings semi join code_query_terms(query) using (term)
    )
    group by passage order by score desc, passage limit n
)
select row_number() over (order by score desc, passage) as rank, score, passage_id, doc_id, breadcrumb, text, passage
from hits join passages using (passage) order by rank;
comment on macro table code_search is 'The n passages with the highest BM25 scores for the identifiers of a query, whole or in part.';

-- Every vector is compared: exact. Passages that share a vector share its score.
create or replace macro semantic_search(query_vector, n) as table
with hits as (
    select passage, score
    from (
        select vector_row, array_cosine_similarity(vector, query_vector::float[{dimension}])::double as score from vectors
    ) join passages using (vector_row)
    where score > 0 and isfinite(score)
    order by score desc, passage limit n
)
select row_number() over (order by score desc, passage) as rank, score, passage_id, doc_id, breadcrumb, text, passage
from hits join passages using (passage) order by rank;
comment on macro table semantic_search is 'The n passages nearest to a vector of the snapshot''s model, by cosine.';

-- A word of which no term has a vector is cut into tokens of the model, as WordPiece does: each time the longest that fits,
-- and what continues a word is written with ## in front. Each token counts by its letters; one with no token is [UNK].
create or replace macro query_tokens(query) as table
with recursive
asked as materialized (
    select token as word, term from query_terms(query)
    union all
    select query, null from (select 1) where len(tokens(left(query, 10000))) = 0 and trim(query) <> ''
),
strange as materialized (
    select word, row_number() over (order by word) as id
    from (select distinct word from asked where word not in (select word from asked semi join term_vectors using (term)))
),
-- A word may have a million letters: only its number goes on from here, and of its parts no more than a token holds.
runs as materialized (
    select row_number() over (order by id, number) as run, id, part
    from (
        select id, unnest(pieces) as part, generate_subscripts(pieces, 1) as number
        from (select id, regexp_extract_all(without_accents(word), '[\p{L}\p{N}]+') as pieces from strange)
    )
),
starts as materialized (
    select run, start, part[start:start + (select max(length(token)) from token_vectors)] as ahead
    from (select run, part, unnest(range(1, length(part) + 1)) as start from runs)
),
ends as (
    select run, start, start + size - 1 as finish, if(start = 1, '', '##') || ahead[1:size] as token
    from (select *, unnest(range(1, length(ahead) + 1)) as size from starts)
),
fitting as (select run, start, max(finish) as finish from ends semi join token_vectors using (token) group by run, start),
longest as materialized (
    select run, start, coalesce(finish, start) as finish, finish is not null as fits
    from starts left join fitting using (run, start)
),
-- Where cuts lie, in as many steps as the number of letters has binary digits: each step knows where twice as many tokens lead.
cuts as (
    select 0 as step, run, start, finish + 1 as beyond, start = 1 as is_cut from longest
    union all
    select here.step + 1, here.run, here.start, there.beyond, here.is_cut or coalesce(before.is_cut, false)
    from cuts as here
    left join cuts as there on there.run = here.run and there.start = here.beyond
    left join cuts as before on before.run = here.run and before.beyond = here.start and before.is_cut
    where 2 ** here.step < (select max(start) from longest)
),
cut as (
    select longest.* from longest join (from cuts where step = (select max(step) from cuts) and is_cut) using (run, start)
),
covering as (
    select id, if(start = 1, '', '##') || ahead[1:finish - start + 1] as token, finish - start + 1 as letters
    from cut join starts using (run, start) join runs using (run) where fits
),
whole as (
    select * from covering
    union all
    select id, '[UNK]', 1 from strange where id not in (select id from covering)
)
select word, token, sum(letters) / (sum(sum(letters)) over (partition by id) * sum(count(*)) over (partition by id)) as share
from whole join strange using (id) group by id, word, token;
comment on macro table query_tokens is
    'The words of a query that no term vector knows, and the tokens that each is made of, with their shares of what it would add.';

create or replace macro text_vector(query) as (
    with
    rarity as (select {unseen_share} * ln(1 + (count(*) + 0.5) / 0.5) as weight from passages),
    adding as (
        select scale::double as scale, code from term_vectors semi join query_terms(query) using (term)
        union all
        select scale * share * weight, code from token_vectors join query_tokens(query) using (token), rarity
    )
    select list((component / length_of)::float order by place)::float[{dimension}]
    from (
        select place, sum(scale * value) as component, sqrt(sum(sum(scale * value) ** 2) over ()) as length_of
        from (select scale, unnest(code) as value, generate_subscripts(code, 1) as place from adding)
        group by place
    )
);
comment on macro text_vector is
    'The unit vector of a query without a model: the vectors of its terms, and of the tokens of words without one, added up.';

create or replace macro semantic_search_text(query, n) as table from semantic_search(text_vector(query), n);
comment on macro table semantic_search_text is
    'The n passages nearest to a query by the vectors of its terms; none if none of them has one.';

-- The 100 best of either search, scored by both and by how near their document is: cosines as they are, BM25F as a share of
-- the best score, which is worth the share that known words have of what was asked, and less where there are few documents.
-- Documents that others link to count a little more.
create or replace macro hybrid_search(query, n) as table
with searched as materialized (select token, term from query_terms(without_stop_words(query))),
keyword_scores as materialized (
    select passage, sum(score) as score
    from (
        select unnest(passage) as passage, unnest(score)::double as score from postings semi join searched using (term)
    )
    group by passage
),
unknown_words as (
    select count(*) * (select ln(1 + (count(*) + 0.5) / 0.5) from passages) as score
    from (select token from searched left join terms using (term) group by token having count(terms.passages) = 0)
),
known_words as (select sum(max_score)::double as score from terms semi join searched using (term)),
best_keyword as (
    select max(keyword_scores.score) * (1 + any_value(unknown_words.score) / any_value(known_words.score))
        * (select least(2, 1 + {half_credible} / count(*)) from documents) as score
    from keyword_scores, unknown_words, known_words
),
wanted as materialized (select text_vector(query) as vector),
meanings as materialized (
    select passage, array_cosine_similarity(vectors.vector, wanted.vector)::double as score
    from vectors join passages using (vector_row), wanted
),
found as (
    (select passage from keyword_scores order by score desc, passage limit 100)
    union
    (select passage from meanings where score > 0 and isfinite(score) order by score desc, passage limit 100)
),
scored as (
    select passage, coalesce(keyword_scores.score, 0) as keyword_score, greatest(coalesce(meanings.score, 0), 0) as semantic_score,
        greatest(coalesce(array_cosine_similarity(centroids.vector, wanted.vector), 0), 0)::double as document_score,
        1 + 0.05 * ln(1 + links_in) as in_degree
    from found join passages using (passage) join documents using (doc_id) join centroids using (doc_id)
        left join keyword_scores using (passage) left join meanings using (passage), wanted
),
hits as (
    select passage, keyword_score, semantic_score, document_score, in_degree, in_degree * (
        0.32 * coalesce(keyword_score / best_keyword.score, 0) + 0.2 * if(isfinite(semantic_score), semantic_score, 0)
        + 0.48 * if(isfinite(document_score), document_score, 0)
    ) as score
    from scored, best_keyword order by score desc, passage limit n
)
select row_number() over (order by score desc, passage) as rank, score, keyword_score, semantic_score, document_score, in_degree,
    passage_id, doc_id, breadcrumb, text, passage
from hits join passages using (passage) order by rank;
comment on macro table hybrid_search is
    'The n passages with the highest weighted sum of keyword, semantic and document scores, for documents linked to a little more.';
