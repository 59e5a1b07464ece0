/** Reads a body; undefined if it has more than `limit` bytes. */
export async function readUpTo(
  limit: number,
  body: ReadableStream<Uint8Array> | null,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk as Uint8Array<ArrayBuffer>); // as streams of the runtime have them
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
