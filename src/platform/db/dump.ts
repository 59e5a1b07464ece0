/** D1 restores no dump with a longer statement: a row of a table is one. */
export const maxStatementBytes = 100_000;

const encoder = new TextEncoder();

/** How many bytes a text takes in a dump of the database, where each `'` is written twice. */
export const dumpedBytes = (text: string): number =>
  encoder.encode(text).byteLength + (text.match(/'/g)?.length ?? 0);
