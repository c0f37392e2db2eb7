-- Documents and how they hang together.

create or replace macro similar_to(id, n) as table
with given as (select vector as wanted from centroids where doc_id = id)
select row_number() over (order by score desc, doc_id) as rank, score, doc_id, title, url
from (
    select doc_id, array_cosine_similarity(vector, wanted)::double as score
    from centroids, given where doc_id <> id
) join documents using (doc_id)
where isfinite(score)
order by rank limit n;
comment on macro table similar_to is 'The n documents most like one, by the cosine of their centroids.';

create or replace macro neighbours(id) as table
select doc_id, title, url, direction, kind, count(*) as links
from (
    select target_id as doc_id, 'out' as direction, kind from links where source_id = id
    union all
    select source_id, 'in', kind from links where target_id = id
) join documents using (doc_id)
where doc_id <> id
group by all
order by direction desc, links desc, doc_id, kind;
comment on macro table neighbours is 'The documents that one links to (out) or that link to it (in), by kind of link, most links first.';

create or replace macro community(id) as table
select doc_id, title, url, links_in, links_out, label
from documents join communities on community = community_id
where community = (select community from documents where doc_id = id) and doc_id <> id
order by links_in desc, doc_id;
comment on macro table community is 'The other documents of the community that one is in, those most linked to first.';
