-- Searches: each gives the n best passages, best first, and equal ones in the order of the passages.

-- BM25F over the fields of a passage and its document: the sum of each term's scores, as the build computed them.
create or replace macro keyword_search(query, n) as table
with hits as (
    select passage, sum(score) as score
    from (
        select unnest(passage) as passage, unnest(score)::double as score
        from postings semi join query_terms(query) using (term)
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

create or replace macro text_vector(query) as (
    select list((component / length_of)::float order by place)::float[{dimension}]
    from (
        select place, sum(idf * value) as component, sqrt(sum(sum(idf * value) ** 2) over ()) as length_of
        from (
            select idf, unnest(vector::float[]) as value, generate_subscripts(vector::float[], 1) as place
            from vocabulary semi join query_terms(query) as wanted on index_term = wanted.term
        )
        group by place
    )
);
comment on macro text_vector is 'A unit vector for a text without a model: its vocabulary words'' vectors, weighted by their rarity.';

create or replace macro semantic_search_text(query, n) as table from semantic_search(text_vector(query), n);
comment on macro table semantic_search_text is
    'The n passages nearest to a text by the vectors of its words; none if the vocabulary has none of them.';

create or replace macro hybrid_search(query, n) as table
with fused as (
    select passage, sum(1 / (60 + rank)) as score, min(rank) filter (list = 'keyword') as keyword_rank,
        min(rank) filter (list = 'semantic') as semantic_rank
    from (
        select 'keyword' as list, rank, passage from keyword_search(query, 100)
        union all
        select 'semantic', rank, passage from semantic_search_text(query, 100)
    )
    group by passage order by score desc, passage limit n
)
select row_number() over (order by score desc, passage) as rank, score, keyword_rank, semantic_rank,
    passage_id, doc_id, breadcrumb, text, passage
from fused join passages using (passage) order by rank;
comment on macro table hybrid_search is
    'The n passages that stand highest in keyword_search and semantic_search_text: reciprocal rank fusion with k = 60.';
