-- Since when a connection that a connector feeds has been known to be silent; null while it sends.
alter table connections add column silent_since integer;
