import { makeZip } from 'client-zip';
import { useContext } from 'hono/jsx';
import { by, type Context } from '../../../core/platform/http/context.ts';
import { capital } from '../../../core/platform/text.ts';
import { counted, sizeInWords } from '../../../texts/words.ts';
import type { OnRecord, ShownRecord } from '../../../ui/added.ts';
import { LinkButton } from '../../../ui/buttons.tsx';
import { accidentPath, idIn, requireAccident } from '../../../ui/lists/records.tsx';
import { Panel, State } from '../../../ui/parts.tsx';
import { PageReader } from '../../../ui/reader.ts';
import { Day, Time } from '../../../ui/time.tsx';
import { findEvidence, openEvidence, openFile } from '../evidence.ts';
import { storedFile } from '../http/stored-file.ts';
import type { EvidenceFile } from '../schema.ts';

const asked = (c: Context) => ({ accidentId: idIn(c, 'eventId'), by: c.get('session').user.id });

/** Sends a file, or a range of it: videos and photos to be shown. */
export async function sendFile(c: Context) {
  const id = c.req.param('evidenceId') ?? '';
  const { file, open } = await openFile(c.env, c.get('caller'), { ...asked(c), id });
  const isShown = file.kind === 'video' || file.kind === 'photo';
  return storedFile(c, file, isShown ? 'inline' : 'attachment', open);
}

/** Sends all stored files as a zip, with a manifest of their checksums and of what was missed. */
export async function downloadAll(c: Context) {
  const [accident, { files, open }, all] = await Promise.all([
    requireAccident(c),
    openEvidence(c.env, c.get('caller'), asked(c)),
    findEvidence(c.env, c.get('caller'), idIn(c, 'eventId')),
  ]);
  const named = all.map((file) => ({
    name: files.find(({ id }) => id === file.id)?.name ?? null,
    ...file,
  }));
  const manifest = JSON.stringify({ accident, evidence: named }, null, 2);
  async function* entries() {
    yield { name: 'manifest.json', input: manifest, lastModified: new Date() };
    for (const { name, bytes, storedAt, ...file } of files)
      yield { name, input: await open(file), size: bytes, lastModified: new Date(storedAt ?? 0) };
  }
  c.header('Content-Type', 'application/zip');
  c.header('Content-Disposition', `attachment; filename="evidence-${accident.eventId}.zip"`);
  return c.body(makeZip(entries()));
}

/** What is kept of an accident: to watch, being copied or missed. */
const EvidencePanel = ({ eventId, files }: { eventId: string; files: EvidenceFile[] }) => {
  const [first] = files;
  if (!first) return null;
  const count = (state: EvidenceFile['state']) =>
    files.filter((file) => file.state === state).length;
  const waiting = count('waiting');
  const path = `${accidentPath({ eventId })}/evidence`;
  const mayOpen = useContext(PageReader).mayGo('GET', path);
  return (
    <Panel
      id="evidence"
      title="Evidence"
      body="grid gap-4"
      live={waiting > 0 && count('stored') === 0}
      side={
        waiting > 0 && (
          <State
            mood="quiet"
            icon="clock"
          >{`${counted(waiting, 'file', 'files')} being copied`}</State>
        )
      }
      foot={
        <>
          All of it will be deleted by <Day at={last(files)} />. Who opens it is in the audit log.
        </>
      }
    >
      {files.toSorted(byUse).map((file) => (
        <figure class="grid gap-1">
          {file.state === 'stored' && mayOpen && <Shown file={file} src={`${path}/${file.id}`} />}
          <figcaption class="sub">
            {capital(file.kind)}
            {file.camera && `, ${file.camera}`}
            {file.takenAt && [', ', <Time at={file.takenAt} seconds />]}
            {file.bytes && `, ${sizeInWords(file.bytes)}`}
            {file.state === 'waiting' &&
              `: being copied.${file.reason ? ` ${file.reason}; we will retry.` : ''}`}
            {file.state === 'missed' && [
              ': ',
              <State mood="warn">Missed</State>,
              ` ${file.reason}`,
            ]}
          </figcaption>
        </figure>
      ))}
      {count('stored') > 0 && mayOpen && (
        <LinkButton href={path} name="Download everything" icon="download" />
      )}
    </Panel>
  );
};

/** What can be looked at comes first, and what was missed last. */
const byUse = (a: EvidenceFile, b: EvidenceFile): number =>
  uses.indexOf(a.state) - uses.indexOf(b.state);
const uses: EvidenceFile['state'][] = ['stored', 'waiting', 'missed'];

const last = (files: EvidenceFile[]): string =>
  files
    .map(({ expiresAt }) => expiresAt)
    .toSorted()
    .at(-1) ?? '';

/** Room for a picture of a camera before it is there, so that nothing moves. */
const frame = 'aspect-video w-full rounded bg-base-200 object-contain';

const Shown = ({ file: { kind, camera }, src }: { file: EvidenceFile; src: string }) => {
  const name = camera ? `${capital(kind)}, ${camera}` : capital(kind);
  if (kind === 'video')
    return (
      <video class={frame} controls preload="metadata" src={src} aria-label={name}>
        <track kind="captions" />
      </video>
    );
  if (kind === 'photo') return <img class={frame} loading="lazy" src={src} alt={name} />;
  return <LinkButton href={src} name={`Download the ${kind}`} icon="download" />;
};

/** What it adds to the page of an accident. */
export async function onRecord(c: Context, { id, accident }: ShownRecord): Promise<OnRecord> {
  if (!accident) return {};
  return { main: <EvidencePanel eventId={id} files={await findEvidence(...by(c), id)} /> };
}
