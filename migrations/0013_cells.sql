-- Accounts that move to another cell: a row in each of the two cells, until nothing is left of the move there.
create table moves (
  account_id text primary key,
  state      text not null,
  move       text not null check (json_valid(move)) -- see src/extras/cells/operator/part.ts
) strict, without rowid;
