import type { evidenceKinds } from '../../core/fleet/lists/field-objects.ts';

type Kind = (typeof evidenceKinds)[number];

/** The types of files that are copied, by how they begin, a character for each byte, and what they can be. */
const types: { is: (start: string, bytes: Uint8Array) => boolean; type: string; kinds: Kind[] }[] =
  [
    {
      is: (start, bytes) => hasBrand(start) && isMovie(bytes),
      type: 'video/mp4',
      kinds: ['video'],
    },
    { is: (_, bytes) => isMovie(bytes), type: 'video/quicktime', kinds: ['video'] },
    { is: begins('\x1aE\xdf\xa3'), type: 'video/webm', kinds: ['video'] },
    { is: begins('\xff\xd8\xff'), type: 'image/jpeg', kinds: ['photo', 'document'] },
    { is: begins('\x89PNG\r\n\x1a\n'), type: 'image/png', kinds: ['photo', 'document'] },
    { is: matches(/^RIFF.{4}WEBP/s), type: 'image/webp', kinds: ['photo', 'document'] },
    { is: begins('%PDF-'), type: 'application/pdf', kinds: ['document'] },
    { is: matches(/^(?:\xef\xbb\xbf)?\s*[[{]/), type: 'application/json', kinds: ['telemetry'] },
    { is: matches(/^[\t\n\r -;=-\xff]*[,;\t]/), type: 'text/csv', kinds: ['telemetry'] },
  ];

function begins(magic: string) {
  return (start: string) => start.startsWith(magic);
}

function matches(pattern: RegExp) {
  return (start: string) => pattern.test(start);
}

/** Bytes as text: what `TextDecoder` calls latin1 is windows-1252, which has other characters for some. */
const textOf = (bytes: Uint8Array) => String.fromCharCode(...bytes);

const hasBrand = (start: string) => start.slice(4, 8) === 'ftyp' && start.slice(8, 12) !== 'qt  ';

/** More than any file that is taken has: 256 MB. Text taken for a size has more. */
const longestBox = 2 ** 28;

/** Whether these are boxes of MP4 or QuickTime, each with its size and type, one of pictures or further than we see. */
function isMovie(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (at + 16 <= bytes.byteLength) {
    const type = textOf(bytes.subarray(at + 4, at + 8));
    const said = view.getUint32(at);
    const size = said === 1 ? Number(view.getBigUint64(at + 8)) : said || Infinity; // 0: to the end
    if (size < 8 || said > longestBox || !/^[ -~\xa9]{4}$/.test(type)) return false;
    if (at === 0 && !/^(?:ftyp|styp|wide|mdat|moov|free|skip|pnot)$/.test(type)) return false;
    if (/^(?:mdat|moov|moof)$/.test(type)) return true;
    at += size;
  }
  return at > bytes.byteLength && at < longestBox;
}

/** The type of a file that begins with these bytes; undefined if it is none of this kind. */
export function typeOf(kind: Kind, bytes: Uint8Array): string | undefined {
  const start = textOf(bytes.subarray(0, 512));
  return types.find(({ is, kinds }) => kinds.includes(kind) && is(start, bytes))?.type;
}

/** Whether a server sends a note in JSON instead of a file: that it is still being made. */
export function isNotReady(bytes: Uint8Array): boolean {
  if (bytes.byteLength > 1000 || bytes.byteLength === 0) return false;
  let found = false;
  const look = (key: string, value: unknown) => {
    const said = value === true ? key : value;
    found ||=
      typeof said === 'string' && /processing|pending|queued|in.?progress|not.?ready/i.test(said);
    return value;
  };
  try {
    JSON.parse(new TextDecoder().decode(bytes), look);
  } catch {
    return false;
  }
  return found;
}

const endings: { [type: string]: string } = { 'video/quicktime': 'mov', 'image/jpeg': 'jpg' };

/** The name of a file when it is downloaded: `video-3f2a91c0.mp4`. */
export const fileName = ({
  id,
  kind,
  contentType,
}: {
  id: string;
  kind: Kind;
  contentType: string | null;
}) =>
  `${kind}-${id.slice(0, 8)}.${endings[contentType ?? ''] ?? contentType?.split('/')[1] ?? 'bin'}`;
