/* Small real files for fakes of providers: an MP4 that browsers play, and a JPEG. */

/** A link to one of these at a fake provider, which expires after so many seconds. */
export const mediaLink = (origin: string, name: 'road.mp4' | 'cab.jpg', seconds = 3600): string =>
  `${origin}/media/${name}?Expires=${Math.floor(Date.now() / 1000) + seconds}&Signature=demo`;

/** Serves such a link, or the range of it that is asked for. */
export function serveMedia(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url);
  if (Number(searchParams.get('Expires')) * 1000 < Date.now())
    return new Response('Expired', { status: 403 });
  const isVideo = pathname.endsWith('.mp4');
  const bytes = isVideo ? fakeVideo() : fakePhoto();
  const from = Number(/^bytes=(\d+)-/.exec(request.headers.get('range') ?? '')?.[1] ?? 0);
  const headers = { 'content-type': isVideo ? 'video/mp4' : 'image/jpeg' };
  return new Response(bytes.subarray(from), { status: from > 0 ? 206 : 200, headers });
}

/** Writes bits; `ue` and `se` are the Exp-Golomb codes of H.264. */
function bitWriter() {
  const bytes: number[] = [];
  let [byte, count] = [0, 0];
  const put = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) {
      byte = (byte << 1) | ((value >> bit) & 1);
      if (++count < 8) continue;
      bytes.push(byte);
      [byte, count] = [0, 0];
    }
  };
  const ue = (value: number) => put(value + 1, 2 * Math.floor(Math.log2(value + 1)) + 1);
  const align = (bit: 0 | 1) => {
    while (count > 0) put(bit, 1);
  };
  return { bytes, put, ue, align };
}

/** A unit of H.264: an id, and what `write` writes, so escaped that it has no start code. */
function unit(id: number, write: (to: ReturnType<typeof bitWriter>) => void): number[] {
  const to = bitWriter();
  write(to);
  to.put(1, 1);
  to.align(0);
  const escaped: number[] = [id];
  for (const byte of to.bytes) {
    if (byte <= 3 && escaped.at(-1) === 0 && escaped.at(-2) === 0) escaped.push(3);
    escaped.push(byte);
  }
  return escaped;
}

const [columns, rows, framesPerSecond] = [8, 6, 5];

/** The parameters of a video of so many blocks of 16 by 16 points, each frame on its own. */
const sequence = unit(0x67, ({ put, ue }) => {
  put(0x42c01e, 24);
  for (const value of [0, 0, 2, 0]) ue(value);
  put(0, 1);
  ue(columns - 1);
  ue(rows - 1);
  put(0b1100, 4);
});
const picture = unit(0x68, ({ put, ue }) => {
  for (const value of [0, 0]) ue(value);
  put(0, 2);
  for (const value of [0, 0, 0]) ue(value);
  put(0, 3);
  for (const value of [0, 0, 0]) ue(value);
  put(0, 3);
});

/** A frame of blocks without compression, on which a lighter one wanders. */
const frame = (at: number) =>
  unit(0x65, ({ bytes, put, ue, align }) => {
    for (const value of [0, 7, 0]) ue(value);
    put(0, 4);
    ue(at % 2);
    put(0, 2);
    ue(0);
    for (let block = 0; block < columns * rows; block++) {
      ue(25);
      align(0);
      const luma = block % columns === at % columns ? 220 : 60 + 3 * block;
      bytes.push(...Array(256).fill(luma), ...Array(64).fill(110), ...Array(64).fill(150));
    }
  });

const number = (value: number, length = 4) =>
  Array.from({ length }, (_, i) => Math.floor(value / 256 ** (length - 1 - i)) % 256);
const zeros = (length: number): number[] => Array(length).fill(0);
const text = (value: string) => [...new TextEncoder().encode(value)];
const box = (type: string, ...parts: number[][]): number[] => {
  const content = parts.flat();
  return [...number(content.length + 8), ...text(type), ...content];
};
const unity = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap((value) => number(value));

/** An MP4 of some seconds that shows a wandering bar. */
export function fakeVideo(seconds = 4): Uint8Array<ArrayBuffer> {
  const count = seconds * framesPerSecond;
  const frames = Array.from({ length: count }, (_, at) => {
    const bytes = frame(at);
    return [...number(bytes.length), ...bytes];
  });
  const [width, height] = [columns * 16, rows * 16];
  const config = [1, 0x42, 0xc0, 0x1e, 0xff, 0xe1, ...number(sequence.length, 2), ...sequence];
  const codec = box('avcC', [...config, 1, ...number(picture.length, 2), ...picture]);
  const size = [...number(width, 2), ...number(height, 2)];
  const look = [...zeros(6), 0, 1, ...zeros(16), ...size, ...number(0x480000), ...number(0x480000)];
  const avc = box('avc1', [...look, ...zeros(4), 0, 1, ...zeros(32), 0, 24, 255, 255], codec);
  const table = (offset: number) =>
    box(
      'stbl',
      box('stsd', zeros(4), number(1), avc),
      box('stts', zeros(4), number(1), number(count), number(1)),
      box('stsc', zeros(4), number(1), number(1), number(count), number(1)),
      box(
        'stsz',
        zeros(8),
        number(count),
        frames.flatMap(({ length }) => number(length)),
      ),
      box('stco', zeros(4), number(1), number(offset)),
    );
  const source = box('dinf', box('dref', zeros(4), number(1), box('url ', number(1))));
  const media = (offset: number) =>
    box(
      'mdia',
      box('mdhd', zeros(12), number(framesPerSecond), number(count), [0x55, 0xc4, 0, 0]),
      box('hdlr', zeros(8), text('vide'), zeros(13)),
      box('minf', box('vmhd', number(1), zeros(8)), source, table(offset)),
    );
  const track = (offset: number) =>
    box(
      'trak',
      box('tkhd', number(3), zeros(8), number(1), zeros(4), number(count), zeros(16), unity, [
        ...number(width * 65_536),
        ...number(height * 65_536),
      ]),
      media(offset),
    );
  const movie = (offset: number) =>
    box(
      'moov',
      box('mvhd', zeros(12), number(framesPerSecond), number(count), number(0x10000), [
        ...[1, 0, ...zeros(10)],
        ...unity,
        ...zeros(24),
        ...number(2),
      ]),
      track(offset),
    );
  const type = box('ftyp', text('isom'), number(512), text('isomavc1'));
  const offset = type.length + movie(0).length + 8;
  return Uint8Array.from([...type, ...movie(offset), ...box('mdat', ...frames)]);
}

/** A grey JPEG of 64 by 48 points with a gradient: each block of 8 by 8 points has one shade. */
export function fakePhoto(): Uint8Array<ArrayBuffer> {
  const [wide, high] = [8, 6];
  const { bytes, put, align } = bitWriter();
  let before = 0;
  for (let block = 0; block < wide * high; block++) {
    const shade = (block % wide) * 120 - 400 + Math.floor(block / wide) * 60;
    const step = shade - before;
    const bits = step === 0 ? 0 : Math.floor(Math.log2(Math.abs(step))) + 1;
    put(bits, 4);
    put(step < 0 ? step + 2 ** bits - 1 : step, bits);
    put(0, 1); // no more of this block
    before = shade;
  }
  align(1);
  const segment = (marker: number, ...content: number[]) => [
    ...[0xff, marker],
    ...number(content.length + 2, 2),
    ...content,
  ];
  const lengths = (length: number, count: number) => [
    ...zeros(length - 1),
    ...[count],
    ...zeros(16 - length),
  ];
  return Uint8Array.from([
    ...[0xff, 0xd8],
    ...segment(0xe0, ...text('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0),
    ...segment(0xdb, 0, ...Array(64).fill(1)),
    ...segment(0xc0, 8, ...number(high * 8, 2), ...number(wide * 8, 2), 1, 1, 0x11, 0),
    ...segment(0xc4, 0, ...lengths(4, 12), ...Array.from({ length: 12 }, (_, i) => i)),
    ...segment(0xc4, 0x10, ...lengths(1, 1), 0),
    ...segment(0xda, 1, 1, 0, 0, 63, 0),
    ...bytes.flatMap((byte) => (byte === 0xff ? [0xff, 0] : [byte])),
    ...[0xff, 0xd9],
  ]);
}
