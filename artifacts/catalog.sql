-- Views and macros over one snapshot, for analysts: noctule puts in {folder} and {dimension}.
-- `passage` is a passage's row number from 0: the number that postings use.

create view documents as select * from read_parquet('{folder}/documents.parquet');
create view sections as select * from read_parquet('{folder}/sections.parquet');
create view passages as
    select file_row_number::integer as passage, * exclude (file_row_number)
    from read_parquet('{folder}/passages.parquet', file_row_number = true);
create view code_blocks as select * from read_parquet('{folder}/code_blocks.parquet');
create view links as select * from read_parquet('{folder}/links.parquet');
create view communities as select * from read_parquet('{folder}/communities.parquet');
create view terms as select * from read_parquet('{folder}/terms.parquet');
create view postings as select * from read_parquet('{folder}/postings.parquet');
create view code_terms as select * from read_parquet('{folder}/code_terms.parquet');
create view code_postings as select * from read_parquet('{folder}/code_postings.parquet');
create view vocabulary as
    select * replace (vector::float[{dimension}] as vector) from read_parquet('{folder}/vocabulary.parquet');
create view vectors as
    select file_row_number::integer as vector_row, content_hash, vector::float[{dimension}] as vector
    from read_parquet('{folder}/vectors.parquet', file_row_number = true);
create view report as select * from read_parquet('{folder}/report.parquet');

-- One row for each term of each passage.
create view postings_flat as select term, unnest(passage) as passage, unnest(score) as score from postings;
create view code_postings_flat as select term, unnest(passage) as passage, unnest(score) as score from code_postings;

-- Passages by BM25F, best first, for terms as the analyzer writes them: select * from search_terms(['fetch', 'request']).
create macro search_terms(wanted) as table
    select p.passage_id, p.doc_id, p.breadcrumb, round(sum(f.score), 4) as score
    from postings_flat f join passages p using (passage)
    where list_contains(wanted, f.term)
    group by all
    order by score desc, p.passage_id;

-- Passages with the nearest vectors, nearest first: select * from similar_passages('docs:guide.md@3') limit 10.
create macro similar_passages(id) as table
    select p.passage_id, p.doc_id, p.breadcrumb, array_inner_product(v.vector, q.vector) as similarity
    from (select vector from vectors join passages using (vector_row) where passage_id = id) q,
         vectors v join passages p using (vector_row)
    where p.passage_id <> id
    order by similarity desc, p.passage_id;
