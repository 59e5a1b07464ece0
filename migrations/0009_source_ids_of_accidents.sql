-- What the provider calls an accident. Null until a record of it arrives after this migration.
alter table accidents add column source_id text;
