-- What the portal's chart shows: how many deliveries of a webhook ended in an hour. A ring of 24 rows a webhook, so
-- that nothing has to be deleted: an hour takes the place of the one a day before it.
create table webhook_hours (
  webhook_id text not null references webhooks (id) on delete cascade,
  slot       integer not null check (slot between 0 and 23), -- the hour of the day, UTC
  hour       integer not null, -- hours since 1970
  delivered  integer not null,
  failed     integer not null,
  primary key (webhook_id, slot)
) strict, without rowid;

-- For deleting what is over, without reading what is not.
create index sign_in_links_by_expiry on sign_in_links (expires_at);
create index sessions_by_expiry on sessions (expires_at);
create index tokens_by_expiry on tokens (expires_at) where expires_at is not null;
create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null;
