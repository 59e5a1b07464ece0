/** SQL that lists the schema's entries, without SQLite's and D1's own, and the applied migrations. */
export const schemaSql = `select type || ' ' || name || ': ' || sql as name from sqlite_master
  where sql is not null and name not glob '_cf_*' and name not glob 'sqlite_*' and name <> 'd1_migrations'
  union all select 'migration ' || name || ':' from d1_migrations`;

/** An entry without comments and white space, which depend on how a migration was applied. */
export const plain = (entry: string): string =>
  entry
    .replace(/--[^\n]*/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),;]) ?/g, '$1')
    .trim();

/** What an entry defines, such as `trigger event_came`. */
export const subjectOf = (entry: string): string => entry.split(':', 1).join();

/** An entry's subject with a digest of the entry: `trigger event_came: 8f3b…`. */
export async function fingerprint(entry: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(plain(entry)));
  return `${subjectOf(entry)}: ${new DataView(digest).getBigUint64(0).toString(16).padStart(16, '0')}`;
}
