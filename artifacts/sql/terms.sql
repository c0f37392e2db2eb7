-- The analyzer: from a query to the terms of the index, as the build went from texts to terms. Quotes, -word, field:word
-- and other operators of `noctule search` are not read here: every word of a query is a word.

-- Characters a word is made of: letters, numbers, and marks, those that may be left out in writing (accents, Hebrew
-- points, Arabic vowels) and those that may not (vowel signs of India and South-East Asia).
create or replace macro loose_marks() as
    '\x{300}-\x{36f}\x{483}-\x{489}\x{591}-\x{5bd}\x{5bf}\x{5c1}\x{5c2}\x{5c4}\x{5c5}\x{5c7}'
    || '\x{610}-\x{61a}\x{64b}-\x{65f}\x{670}\x{6d6}-\x{6dc}\x{6df}-\x{6e4}\x{6ea}-\x{6ed}';
create or replace macro word_characters() as
    '\p{L}\p{N}' || loose_marks()
    || '\x{900}-\x{963}\x{966}-\x{dff}\x{e31}\x{e34}-\x{e3a}\x{e47}-\x{e4e}\x{eb1}\x{eb4}-\x{ebc}\x{ec8}-\x{ecd}'
    || '\x{102b}-\x{103e}\x{17b4}-\x{17d3}';
create or replace macro cjk_characters() as
    '\x{3040}-\x{30ff}\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{ac00}-\x{d7af}\x{20000}-\x{2fa1f}';

create or replace macro fold(written_text) as (
    select coalesce(nfc_normalize(string_agg(coalesce(folded, lower(letter)), '' order by place)), '')
    from (
        select unnest(letters) as letter, generate_subscripts(letters, 1) as place
        -- Normalisation would stop at a NUL.
        from (select regexp_extract_all(replace(written_text, chr(0), ' '), '(?s).') as letters)
    ) left join foldings on written = letter
);
comment on macro fold is 'A text case-folded, with compatibility forms of characters unified.';

-- Only in these scripts is a mark an accent: strip_accents would take the vowels out of Hindi, and the voice out of Kana.
create or replace macro accented() as
    '\p{Latin}\p{Greek}\p{Cyrillic}\x{620}-\x{64a}\x{671}-\x{6d3}' || loose_marks();
create or replace macro without_accents(word) as if(
    regexp_full_match(word, '[\x00-\x7f]*'),
    word,
    nfc_normalize(array_to_string(list_transform(
        regexp_extract_all(nfc_normalize(word), '[' || accented() || ']+|[^' || accented() || ']+'),
        lambda run: if(regexp_matches(run, '[' || accented() || ']'), strip_accents(run), run)), '')));

create or replace macro has_cjk(word) as regexp_matches(word, '[' || cjk_characters() || ']');
create or replace macro word_parts(word) as
    regexp_extract_all(word, '[' || word_characters() || ']+(?:[''\x{2019}][' || word_characters() || ']+)*');
create or replace macro bigrams(run) as
    list_transform(range(1, greatest(length(run), 2)), lambda i: run[i:i + 1]);
create or replace macro mixed_parts(word) as flatten(list_transform(
    regexp_extract_all(word, '[' || cjk_characters() || ']+|[^' || cjk_characters() || ']+'),
    lambda run: if(has_cjk(run), bigrams(run), word_parts(run))));

create or replace macro tokens(written_text) as (
    -- A + or # before a letter belongs to no language's name; twice, as matches may not overlap.
    select regexp_extract_all(
        regexp_replace(regexp_replace(
            folded, '([a-z])(\+\+|#)([\p{L}\p{N}_])', '\1 \2\3', 'g'), '([a-z])(\+\+|#)([\p{L}\p{N}_])', '\1 \2\3', 'g'),
        '[a-z](?:\+\+|#)|[_' || word_characters() || ']+(?:[.''\x{2019}][_' || word_characters() || ']+)*')
    from (select fold(written_text) as folded)
);
comment on macro tokens is 'The words of a text, folded, as the index counts them.';

-- What is not written as a word, such as :has(), is no stop word; and one word alone may be part of a name ("for loop"), but
-- not in a question, which begins with a word that asks and a stop word after it.
create or replace macro without_stop_words(query) as coalesce((
    with written as (
        select word, place, without_accents(replace(fold(rtrim(word, ',;:.?!')), chr(8217), '''')) as bare,
            regexp_full_match(word, '\p{L}+(?:[''\x{2019}]\p{L}+)?[,;:.?!]*') as is_word
        from (
            select unnest(words) as word, generate_subscripts(words, 1) as place
            from (select regexp_extract_all(left(query, 10000), '\S+') as words)
        )
    ),
    marked as (
        select *, is_word and list_contains([{stop_words}]::varchar[], bare) as ignored,
            is_word and list_contains([{question_words}]::varchar[], bare) as asks
        from written
    ),
    -- Both of the first two words.
    opening as (
        select count(*) filter (where (place = 1 and asks) or (place = 2 and (asks or ignored))) = 2 as question from marked
    )
    select case when count(distinct bare) > if(any_value(question), 0, 1) then string_agg(word, ' ' order by place) end
    from marked, opening where not (ignored or (question and asks))
), query);
comment on macro without_stop_words is 'A query without its stop words, or as it is if less than two words were left, of a question less than one.';

-- English is stemmed here; in another language a word is looked up among all the corpus has, and stays as it is if it
-- is not one of them.
create or replace macro query_terms(query) as table
with words as materialized (
    select distinct token, language
    from (select unnest(tokens(left(query, 10000))) as token), (select unnest([{languages}]) as language)
),
known as materialized (
    select words.*, terms
    from words join surfaces on surface = token and surfaces.language = words.language
    where surfaces.language <> 'en' and surfaces.language <> 'und'
),
unknown as materialized (
    select *, if(has_cjk(token), mixed_parts(token), word_parts(token)) as parts
    from words anti join known using (token, language)
),
-- What is stemmed part by part: of node.js two words, of a CJK name its bigrams, of c++ nothing.
parts as materialized (
    select token, language, replace(unnest(parts), chr(8217), '''') as part from unknown where token not similar to '.*[+#]'
),
-- What stays whole: c++ as it is, node.js besides its parts.
wholes as (
    select token, if(token similar to '.*[+#]', token, left(without_accents(trim(token, '_')), 64)) as term
    from unknown where (len(parts) > 1 and not has_cjk(token)) or token similar to '.*[+#]'
),
stems as (
    select token, if(language = 'en' and not regexp_matches(part, '\p{Nd}'), stem_english(part), part) as stem from parts
)
select distinct token, term
from (
    select token, unnest(terms) as term from known
    union all
    select token, left(without_accents(stem), 64) from stems
    union all
    from wholes
)
where term <> '';
comment on macro table query_terms is 'The words of a query, and the terms of the prose index that each stands for.';

create or replace macro code_query_terms(query) as table
with identifiers as (
    select distinct unnest(regexp_extract_all(left(query, 10000),
        '[\p{L}\p{Nl}\p{No}_][\p{L}\p{N}_$]*|\p{Nd}+(?:\.\p{Nd}+)*')) as token
)
-- A Turkish capital I keeps its dot.
select distinct token, left(lower(replace(term, chr(304), 'i' || chr(775))), 64) as term
from (
    select token, coalesce(nullif(trim(token, '_$'), ''), token) as term from identifiers
    union all
    -- HTMLParser: the last capital belongs to the next word.
    select token, unnest(regexp_extract_all(regexp_replace(token, '([A-Z])([A-Z][a-z])', '\1 \2', 'g'),
        '[A-Z]?[a-z]+|[A-Z]+|\p{Nd}+|[^\p{M}\p{P}\p{S}\p{Z}\p{C}\p{Nd}A-Za-z]+'))
    from identifiers
);
comment on macro table code_query_terms is 'The identifiers of a query, and the terms of the code index that each stands for.';
