import { declared } from '#src/extras.ts';
import type { CoreMessage } from '#src/index.ts';
import { jobs } from '#src/operator/jobs.ts';
import source from '#src/operator/jobs.ts?raw';

/** What bounds work: the most rows of a transaction, how accounts take turns, and what an account can cause in all. */
type Bound = { rows: string; turns: string; quota: string };

type KeyOf<Message> = Message extends unknown ? keyof Message : never;
type Details = 'accountId' | 'worker' | 'timer' | 'accidents';
type OfCore = Exclude<KeyOf<CoreMessage>, 'job' | Details>;

/** The queue's messages besides those of jobs, by what they name. A new one of the core does not compile without. */
const messages: Record<OfCore, Bound> & Record<string, Bound> = {
  webhookId: {
    rows: '50 deliveries a claim, ten while other accounts wait; 140 transactions an invocation',
    turns: 'accounts, one transaction each, in an isolate',
    quota: 'the deliveries of a day, and 50 calls in flight for each webhook',
  },
  fanOut: {
    rows: '500 deliveries a step, 800 queries an invocation',
    turns: 'one large transaction of each account',
    quota: 'the deliveries of a day',
  },
  pull: {
    rows: '500 records a call, as in a call of a connector',
    turns: 'five connections a message, 8 seconds each',
    quota: 'the records of a day',
  },
  copy: {
    rows: 'one for each 5 MiB of a file',
    turns:
      'one invocation of each account at a time, ten seconds long; one file of each connection and server',
    quota: '20 files and 1 GB of each accident, 5,000 files and 50 GB a day',
  },
  check: { rows: 'one', turns: 'none: operators alone cause it', quota: 'two for each check' },
};

const extras = import.meta.glob<string>('../../src/extras/*/extra.ts', {
  eager: true,
  query: '?raw',
  import: 'default',
});

it('what runs in the background has a bound above each job', () => {
  const declared = [source, ...Object.values(extras)]
    .flatMap((text) => /^(?:export const | {2})jobs: .*?^(?: {2})?\}/ms.exec(text) ?? [])
    .join('\n')
    .replace(/\{\n +run: /g, '{ run: '); // of an entry that does not fit into a line
  expect(declared.match(/^ +\S+.*run: /gm)).toHaveLength(Object.keys(jobs).length);
  expect(declared.match(/(?<!\*\/)\n +\S+.*run: .*/g)).toBeNull();
});

it('what runs in the background has a bound in rows, turns and a quota for each message', () => {
  const ofExtras = declared('messages').flatMap((one) => Object.keys(one));
  expect(Object.keys(messages)).toEqual(expect.arrayContaining(ofExtras));
  for (const bound of Object.values<Bound>(messages))
    expect(Object.values(bound).every((text) => text.length > 0)).toBe(true);
});
