-- What people look for by its beginning, as search_keys has it: the names of vehicles and drivers, in the order of the
-- alphabet and of their numbers, and as words the same as people type it, from each word on, and licence plates. Kept by triggers, which write only what
-- has changed: an index over columns would be written each time that a vehicle moves. A full-text index would be a
-- virtual table, and D1 exports no database that has one.
create table names (
  account_id text not null,
  kind       text not null check (kind in ('vehicle', 'vehicle word', 'driver', 'driver word')),
  name       text not null,
  id         text not null, -- of the vehicle or driver
  primary key (account_id, kind, name, id)
) strict, without rowid;
create trigger vehicle_added after insert on vehicles BEGIN insert into names select new.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, new.id from json_each(new.search_keys); END;
create trigger vehicle_renamed after update of search_keys on vehicles when old.search_keys is not new.search_keys BEGIN delete from names where (account_id, kind, name, id) in (select * from (select old.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, old.id from json_each(old.search_keys) except select new.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, new.id from json_each(new.search_keys))); insert into names select new.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, new.id from json_each(new.search_keys) except select old.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, old.id from json_each(old.search_keys); END;
create trigger vehicle_removed after delete on vehicles BEGIN delete from names where (account_id, kind, name, id) in (select old.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, old.id from json_each(old.search_keys)); END;
create trigger driver_added after insert on drivers BEGIN insert into names select new.account_id, iif(key = 0, 'driver', 'driver word'), value, new.id from json_each(new.search_keys); END;
create trigger driver_renamed after update of search_keys on drivers when old.search_keys is not new.search_keys BEGIN delete from names where (account_id, kind, name, id) in (select * from (select old.account_id, iif(key = 0, 'driver', 'driver word'), value, old.id from json_each(old.search_keys) except select new.account_id, iif(key = 0, 'driver', 'driver word'), value, new.id from json_each(new.search_keys))); insert into names select new.account_id, iif(key = 0, 'driver', 'driver word'), value, new.id from json_each(new.search_keys) except select old.account_id, iif(key = 0, 'driver', 'driver word'), value, old.id from json_each(old.search_keys); END;
create trigger driver_removed after delete on drivers BEGIN delete from names where (account_id, kind, name, id) in (select old.account_id, iif(key = 0, 'driver', 'driver word'), value, old.id from json_each(old.search_keys)); END;
