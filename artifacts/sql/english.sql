-- The Snowball stemmer of English (Porter 2, as of Snowball 3.1), a step a select. `p1` and `p2` are where the regions
-- R1 and R2 of the algorithm begin; the longest suffix is what a regular expression finds first.
-- Each step is materialized: merged into one expression, a constant word would take a planner all memory.

create or replace macro stem_english(word) as (
    with
    -- y that is first, or comes after a vowel, is a consonant: Y.
    prelude as materialized (
        select
            w as word,
            regexp_replace(regexp_replace(regexp_replace(w, '^''', ''), '^y', 'Y'), '([aeiouy])y', '\1Y', 'g') as w
        from (select word as w)
    ),
    first_region as materialized (
        select *, length(regexp_extract(w,
            '^(?:arsen|commun|emerg|gener|inter|later|organ|past|univers|[^aeiouy]*[aeiouy]+[^aeiouy])')) as found
        from prelude
    ),
    second_region as materialized (
        select *, length(regexp_extract(w[found + 1:], '^[^aeiouy]*[aeiouy]+[^aeiouy]')) as more from first_region
    ),
    step_0 as materialized (
        select
            word,
            if(found = 0, length(w), found) as p1,
            if(found = 0 or more = 0, length(w), found + more) as p2,
            regexp_replace(w, '(?:''s''|''s|'')$', '') as w
        from second_region
    ),
    step_1a as materialized (
        select * replace (case
            when w like '%sses' then w[:-3]
            when w like '%ied' or w like '%ies' then if(length(w) > 4, w[:-3], w[:-2])
            when w like '%us' or w like '%ss' then w
            when regexp_matches(w, '[aeiouy].+s$') then w[:-2]
            else w end as w)
        from step_0
    ),
    suffix_1b as materialized (select *, regexp_extract(w, '(?:eedly|ingly|edly|eed|ing|ed)$') as suffix from step_1a),
    stem_1b as materialized (select *, left(w, length(w) - length(suffix)) as stem from suffix_1b),
    step_1b as materialized (
        select word, p1, p2, case
            when suffix = '' then w
            when suffix in ('eed', 'eedly')
                then if(length(stem) >= p1 and stem not in ('succ', 'proc', 'exc'), stem || 'ee', w)
            when suffix = 'ing' and regexp_matches(stem, '^[^aeiouy]y$') then stem[:-2] || 'ie'
            when suffix = 'ing' and stem in ('even', 'cann', 'inn', 'earr', 'herr', 'out') then w
            when not regexp_matches(stem, '[aeiouy]') then w
            when regexp_matches(stem, '(?:at|bl|iz)$') then stem || 'e'
            when regexp_matches(stem, '^[aeo](?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$') then stem
            when regexp_matches(stem, '(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$') then stem[:-2]
            when length(stem) = p1
                and regexp_matches(stem, '[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|past$') then stem || 'e'
            else stem end as w
        from stem_1b
    ),
    step_1c as materialized (
        select * replace (if(regexp_matches(w, '.[^aeiouy][yY]$'), w[:-2] || 'i', w) as w) from step_1b
    ),
    suffix_2 as materialized (
        select *, regexp_extract(w,
            '(?:ational|ization|fulness|iveness|ousness|tional|biliti|lessli|alism|aliti|ation|entli|fulli|iviti|'
            || 'ogist|ousli|abli|alli|anci|ator|enci|izer|bli|ogi|li)$') as suffix
        from step_1c
    ),
    stem_2 as materialized (select *, left(w, length(w) - length(suffix)) as stem from suffix_2),
    step_2 as materialized (
        select word, p1, p2, case
            when suffix = '' or length(stem) < p1 then w
            when suffix = 'tional' then stem || 'tion'
            when suffix in ('enci', 'anci') then stem || suffix[:-2] || 'e'
            when suffix = 'abli' then stem || 'able'
            when suffix in ('entli', 'fulli', 'lessli', 'ousli') then stem || suffix[:-3]
            when suffix in ('izer', 'ization') then stem || 'ize'
            when suffix in ('ational', 'ation', 'ator') then stem || 'ate'
            when suffix in ('alism', 'aliti', 'alli') then stem || 'al'
            when suffix in ('fulness', 'ousness', 'iveness') then stem || suffix[:-5]
            when suffix = 'iviti' then stem || 'ive'
            when suffix in ('biliti', 'bli') then stem || 'ble'
            when suffix = 'ogist' or (suffix = 'ogi' and stem like '%l') then stem || 'og'
            when suffix = 'li' and regexp_matches(stem, '[cdeghkmnrt]$') then stem
            else w end as w
        from stem_2
    ),
    suffix_3 as materialized (
        select *, regexp_extract(w, '(?:ational|tional|alize|ative|icate|iciti|ical|ness|ful)$') as suffix from step_2
    ),
    stem_3 as materialized (select *, left(w, length(w) - length(suffix)) as stem from suffix_3),
    step_3 as materialized (
        select word, p1, p2, case
            when suffix = '' or length(stem) < p1 or (suffix = 'ative' and length(stem) < p2) then w
            when suffix = 'tional' then stem || 'tion'
            when suffix = 'ational' then stem || 'ate'
            when suffix = 'alize' then stem || 'al'
            when suffix in ('icate', 'iciti', 'ical') then stem || 'ic'
            else stem end as w
        from stem_3
    ),
    suffix_4 as materialized (
        select *, regexp_extract(w,
            '(?:ement|able|ance|ence|ible|ment|ant|ate|ent|ion|ism|iti|ive|ize|ous|al|er|ic)$') as suffix
        from step_3
    ),
    stem_4 as materialized (select *, left(w, length(w) - length(suffix)) as stem from suffix_4),
    step_4 as materialized (
        select word, p1, p2, case
            when suffix = '' or length(stem) < p2 or (suffix = 'ion' and not regexp_matches(stem, '[st]$')) then w
            else stem end as w
        from stem_4
    ),
    step_5 as materialized (
        select word, case
            when w like '%e' and length(w) > p2 then w[:-2]
            when w like '%e' and length(w) > p1
                and not regexp_matches(w[:-2], '[^aeiouy][aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$|past$') then w[:-2]
            when w like '%ll' and length(w) > p2 then w[:-2]
            else w end as w
        from step_4
    )
    select case
        when length(word) < 3 or word in ('andes', 'atlas', 'bias', 'cosmos', 'howe', 'news', 'sky') then word
        when word in ('gently', 'idly', 'singly') then word[:-2]
        when word in ('early', 'only', 'ugly') then word[:-2] || 'i'
        when word = 'skis' then 'ski'
        when word = 'skies' then 'sky'
        else translate(w, 'Y', 'y') end
    from step_5
);
comment on macro stem_english is 'The stem of an English word in lower case, as the index has it.';
