-- The catalog of one snapshot: its tables as views, and searches as macros, in any DuckDB and with no extension.
--
--     cd SNAPSHOT && duckdb -init catalog.sql
--
-- or, from any other folder, after: set variable snapshot = '/path/to/SNAPSHOT'. Paths are looked up when a query
-- runs, so the variable can be set again to ask another snapshot the same.
-- Start with: from keyword_search('how do I undo a publish', 5);

create or replace macro snapshot_file(name) as coalesce(getvariable('snapshot'), '.') || '/' || name || '.parquet';

create or replace view documents as from read_parquet(snapshot_file('documents'));
comment on view documents is 'One row a document: identity, address, front matter, text, community and degrees.';

create or replace view sections as from read_parquet(snapshot_file('sections'));
comment on view sections is 'The sections of each document as a tree: parent_id, depth, position, and the text of its own.';

create or replace view passages as
select file_row_number as passage, * exclude (file_row_number)
from read_parquet(snapshot_file('passages'), file_row_number = true);
comment on view passages is 'What is searched: a piece of one section. passage is its number, which postings use.';

create or replace view code_blocks as from read_parquet(snapshot_file('code_blocks'));
comment on view code_blocks is 'Code blocks as written, with their language and the section they stand in.';

create or replace view links as from read_parquet(snapshot_file('links'));
comment on view links is 'Every link of every document, with what became of it; target_id is null where it leads nowhere.';

create or replace view assets as select * exclude (content) from read_parquet(snapshot_file('assets'));
comment on view assets is 'Images and attachments that documents name; their bytes are in the file''s column content.';

create or replace view communities as from read_parquet(snapshot_file('communities'));
comment on view communities is 'Groups of documents that link to one another more than to the rest, with the words that name them.';

create or replace view terms as from read_parquet(snapshot_file('terms'));
comment on view terms is 'The terms of the prose index: in how many passages each stands, and its inverse document frequency.';

create or replace view postings as from read_parquet(snapshot_file('postings'));
comment on view postings is 'Each term with the passages that hold it, its BM25F score there, and the fields it stands in as bits.';

create or replace view code_terms as from read_parquet(snapshot_file('code_terms'));
comment on view code_terms is 'The terms of the code index: identifiers, whole and split.';

create or replace view code_postings as from read_parquet(snapshot_file('code_postings'));
comment on view code_postings is 'Each term of the code index with the passages that hold it and its BM25 score there.';

create or replace view surfaces as from read_parquet(snapshot_file('surfaces'));
comment on view surfaces is 'Words as they are written, by language, with the terms they stand for and how often they occur.';

create or replace view acronyms as from read_parquet(snapshot_file('acronyms'));
comment on view acronyms is 'Acronyms that documents spell out, each with its expansions and how many documents say so.';

create or replace view vocabulary as
select * replace (vector::float[{dimension}] as vector) from read_parquet(snapshot_file('vocabulary'));
comment on view vocabulary is 'The concept vocabulary: words with their vectors and their nearest words.';

create or replace view vectors as
select file_row_number as vector_row, content_hash, vector::float[{dimension}] as vector
from read_parquet(snapshot_file('vectors'), file_row_number = true);
comment on view vectors is 'Unit vectors; passages.vector_row says which is whose.';

create or replace view centroids as
select doc_id, vector::float[{dimension}] as vector from read_parquet(snapshot_file('centroids'));
comment on view centroids is 'The unit mean of the vectors of each document''s passages; zeros for a document without passages.';

create or replace view term_vectors as from read_parquet(snapshot_file('term_vectors'));
comment on view term_vectors is 'What each term adds to a query''s vector, its rarity included: scale times code.';

create or replace view token_vectors as from read_parquet(snapshot_file('token_vectors'));
comment on view token_vectors is 'What the tokens of the model mean to it: scale times code, as long as they are rare. They make up words without a term vector.';

create or replace view report as from read_parquet(snapshot_file('report'));
comment on view report is 'Files that were left out, and remarks about files that were not.';

-- A posting a row, for questions about terms; a search reads the lists, of which Parquet skips what has other terms.
create or replace view term_passages as
select term, unnest(passage) as passage, unnest(score) as score, unnest(fields) as fields from postings;
comment on view term_passages is 'One row for each term of each passage, with its score and fields.';

create or replace macro field_names(fields) as list_filter(
    [{fields}], lambda name, i: (fields::int >> (i - 1)::int) & 1 = 1);
comment on macro field_names is 'The names of the fields that a posting''s bits stand for.';
