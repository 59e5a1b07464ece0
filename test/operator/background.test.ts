import { declared } from '#src/extras.ts';
import { jobs } from '#src/operator/jobs.ts';
import source from '#src/operator/jobs.ts?raw';

const extras = import.meta.glob<string>('../../src/extras/*/extra.ts', {
  eager: true,
  query: '?raw',
  import: 'default',
});

// The most rows of a transaction, how accounts take turns, and what an account can cause in all.
it('what runs in the background has a bound above each job, and each message of an extra', () => {
  const blocks = [source, ...Object.values(extras)]
    .flatMap(
      (text) => text.match(/^(?:export const | {2})(?:jobs|messages): .*?^(?: {2})?\}/gms) ?? [],
    )
    .join('\n')
    .replace(/\{\n +run: /g, '{ run: '); // of an entry that does not fit into a line
  const messages = declared('messages').flatMap((one) => Object.keys(one));
  expect(blocks.match(/^ +[\w'[].*,$/gm)).toHaveLength(Object.keys(jobs).length + messages.length);
  expect(blocks.match(/(?<!\*\/)\n +[\w'[].*,$/gm)).toBeNull();
});
