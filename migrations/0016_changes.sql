-- What changed, in the order in which the service learned it: a row for each transaction that changed records of a
-- connection, so that taking in 500 records writes one row more. `seq` is the time in milliseconds since 1970, or one
-- more than the account's last if that is higher, taken inside the transaction: later transactions have higher ones,
-- and those of the last 30 days are a range of the key.
create table changes (
  account_id    text not null,
  seq           integer not null,
  connection_id text not null,
  action        text not null check (action in ('changed', 'deleted')),
  records       text not null check (json_valid(records)), -- ids by kind: {"vehicle": ["…"], "trip": []}
  primary key (account_id, seq)
) strict, without rowid;
