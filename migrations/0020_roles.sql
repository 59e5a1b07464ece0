-- What a person of an account may do: an admin everything, a member everything but people and tokens, a viewer only
-- read. Whoever was there before could do everything, and becomes an admin. The code before this one goes on working: it
-- neither reads nor writes any of it, and whom it invites can do everything, as before.
alter table portal_users add column role text not null default 'admin' check (role in ('admin', 'member', 'viewer'));

-- The time zone that a person has chosen, by its IANA name; null: that of their browser.
alter table portal_users add column time_zone text;

-- Who created an API token: an entry of this index is written with a new token alone.
create index audit_log_new_tokens on audit_log (subject_id) where subject = 'API token' and action = 'created';
