const encoder = new TextEncoder();

/** How many bytes a text takes in a dump of the database, where each `'` is written twice. */
export const dumpedBytes = (text: string): number =>
  encoder.encode(text).byteLength + (text.match(/'/g)?.length ?? 0);
