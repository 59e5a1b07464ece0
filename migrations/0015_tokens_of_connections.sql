-- The connections that an API token is limited to, as a JSON list of ids. Null: all of the account.
alter table tokens add column connection_ids text check (connection_ids is null or scope = 'api');
