-- Whoever has been invited is pending (confirmed_at is null) until they have used a link, and may be so in several
-- accounts. Only then does the address belong to an account. Whoever was there before has an address that belongs.
-- The code before this one goes on working: it neither reads nor writes the column.
alter table portal_users add column confirmed_at integer;
update portal_users set confirmed_at = created_at;
drop index portal_users_by_email;
create unique index portal_users_by_email on portal_users (email) where confirmed_at is not null;
create unique index portal_users_by_address on portal_users (email, account_id);

-- The invitations of the last day, to limit them: an account that removes whom it has invited still has invited them.
create table invitations (
  account_id text not null references accounts (id),
  id         text not null,
  email      text not null,
  sent_at    integer not null,
  emailed    integer not null check (emailed in (0, 1)), -- 0: somebody had emailed them within the hour
  primary key (account_id, id)
) strict, without rowid;
create index invitations_by_email on invitations (email, sent_at);

-- Lists and limits of credentials read those that are active, however many have been revoked.
create index tokens_active on tokens (account_id, scope, created_at, id) where revoked_at is null;
create index tokens_active_by_connection on tokens (connection_id, created_at, id) where revoked_at is null;
