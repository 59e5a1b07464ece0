-- How often unsaved webhooks of a host were tested in an hour: any account may name any host. Older hours are deleted.
create table test_calls (
  hour  integer not null, -- hours since 1970
  host  text not null,
  calls integer not null,
  primary key (hour, host)
) strict, without rowid;
