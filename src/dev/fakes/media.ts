import files from './media.json' with { type: 'json' };

/** Small real files for fakes of providers, gzipped: an MP4 that browsers play, and a JPEG. */
type Name = keyof typeof files;

const isName = (name: string): name is Name => Object.hasOwn(files, name);

/** A link to one of these at a fake provider, which expires after so many seconds. */
export const mediaLink = (origin: string, name: Name, seconds = 3600): string =>
  `${origin}/media/${name}?Expires=${Math.floor(Date.now() / 1000) + seconds}&Signature=demo`;

/** Serves such a link, or the range of it that is asked for. */
export async function serveMedia(request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (Number(searchParams.get('Expires')) * 1000 < Date.now())
    return new Response('Expired', { status: 403 });
  const name = pathname.slice(pathname.lastIndexOf('/') + 1);
  if (!isName(name)) return new Response('Not found', { status: 404 });
  const packed = Uint8Array.from(atob(files[name]), (char) => char.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(unpacked).bytes();
  const from = Number(/^bytes=(\d+)-/.exec(request.headers.get('range') ?? '')?.[1] ?? 0);
  const headers = { 'content-type': name === 'road.mp4' ? 'video/mp4' : 'image/jpeg' };
  return new Response(bytes.subarray(from), { status: from > 0 ? 206 : 200, headers });
}
