import type { evidenceKinds } from '../lists/field-objects.ts';

type Kind = (typeof evidenceKinds)[number];

/** The types of files that are copied, by their first bytes in Latin-1, and what they can be. */
const types: { starts: RegExp; type: string; kinds: Kind[] }[] = [
  { starts: /^.{4}ftypqt {2}/s, type: 'video/quicktime', kinds: ['video'] },
  { starts: /^.{4}ftyp(?:iso|mp4|avc1|M4V|dash|3gp|MSNV)/s, type: 'video/mp4', kinds: ['video'] },
  { starts: /^.E\xdf\xa3/s, type: 'video/webm', kinds: ['video'] },
  { starts: /^\xff\xd8\xff/, type: 'image/jpeg', kinds: ['photo', 'document'] },
  { starts: /^\x89PNG\r\n.\n/, type: 'image/png', kinds: ['photo', 'document'] },
  { starts: /^RIFF.{4}WEBP/s, type: 'image/webp', kinds: ['photo', 'document'] },
  { starts: /^%PDF-/, type: 'application/pdf', kinds: ['document'] },
  { starts: /^(?:\xef\xbb\xbf)?\s*[[{]/, type: 'application/json', kinds: ['telemetry'] },
  { starts: /^[\t\n\r -;=-\xff]*[,;\t]/, type: 'text/csv', kinds: ['telemetry'] },
];

/** The type of a file that begins with these bytes; undefined if it is none of this kind. */
export function typeOf(kind: Kind, bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 512));
  return types.find(({ starts, kinds }) => kinds.includes(kind) && starts.test(start))?.type;
}

const endings: { [type: string]: string } = { 'video/quicktime': 'mov', 'image/jpeg': 'jpg' };

/** The name of a file when it is downloaded: `video-3f2a91c0.mp4`. */
export const fileName = ({ id, kind, contentType }: { id: string; kind: Kind; contentType: string | null }) =>
  `${kind}-${id.slice(0, 8)}.${endings[contentType ?? ''] ?? contentType?.split('/')[1] ?? 'bin'}`;
