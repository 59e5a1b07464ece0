import { describe, expect, it } from 'vitest';
import type { QueueMessage } from '../../src/index.ts';
import { jobs, starters } from '../../src/operator/jobs.ts';

/** What bounds work: the most rows of a transaction, how accounts take turns, and what an account can cause in all. */
type Bound = { rows: string; turns: string; quota: string };

const inChunks = (quota: string): Bound => ({
  rows: '2,000 a statement, half of the time left to others',
  turns: 'none: the oldest rows, whosever they are, at a cost that is the same for all',
  quota,
});

/** Everything that runs without a caller. */
const background: { [name: string]: Bound } = {
  sweep: {
    rows: 'a due delivery and an accident of each of 5,000 webhooks, and 100 fan-outs',
    turns: 'the webhooks that wait first; the rest the next minute',
    quota: '1,000 webhooks',
  },
  'start pulls': {
    rows: 'one of each connection that is due',
    turns: 'five connections a message, each an invocation of its own',
    quota: '1,000 connections',
  },
  deletions: {
    rows: '8 MB and 5,000 a step',
    turns: 'the one that has waited longest; one that fails waits for ten minutes',
    quota: 'one for each connection, driver and the account',
  },
  trends: {
    rows: '10,000 events of an hour',
    turns: '20 accounts a round, each a day',
    quota: 'the hot days of its events',
  },
  alerts: { rows: '1,000 webhooks of 20 accounts', turns: '20 accounts a step', quota: '1,000 webhooks' },
  'alerts of accidents and events': {
    rows: '250 records of 50 changes, for each of three accounts',
    turns: 'three accounts a step, round by round',
    quota: 'the records of a day; 20 people and 10 channels',
  },
  'health alerts': { rows: '50 connections', turns: '50 connections a step', quota: '1,000 connections' },
  'alert messages': {
    rows: '2,000 read, 20 sent a step',
    turns: 'account by account',
    quota: '200 messages a day; the whole service 1,000 emails, then ten for each account',
  },
  exports: {
    rows: '500 records a page, 20 pages a piece',
    turns: 'a piece of each export',
    quota: '5 exports a day, 2,000,000 records each',
  },
  archive: {
    rows: '1,000 records a statement, 6,000,000 characters a file',
    turns: 'a day of 20 accounts that chance chooses; what fails is left for the hour',
    quota: 'the records of a day',
  },
  'give up old deliveries': inChunks('the deliveries of a day'),
  'delete old deliveries': {
    rows: '5,000 a statement',
    turns: 'none, as above',
    quota: 'the deliveries of a day',
  },
  'delete old notifications': inChunks('the records of a day'),
  'delete expired exports': inChunks('5 exports a day'),
  'delete old changes': inChunks('600 calls a minute for each ingest key'),
  'delete expired credentials': inChunks('20 tokens, 5 links an address, and 1,000 connect links'),
  'delete old audit entries': inChunks('what people change: 20 a minute for each session'),
  're-encrypt': inChunks('1,000 webhooks and connections'),
  'service levels': {
    rows: 'an hour of each webhook, and 24 of each account',
    turns: 'all at once, from sums',
    quota: '1,000 webhooks',
  },
  'note which connections are silent': {
    rows: 'one of each connection',
    turns: 'all at once',
    quota: '1,000 connections',
  },
  'note the size of the database': { rows: 'one of each account', turns: 'all at once', quota: 'one' },
};

type KeyOf<Message> = Message extends unknown ? keyof Message : never;
type Details = 'accountId' | 'worker' | 'timer' | 'accidents';

/** The queue's messages besides those of jobs, by what they name. A new one is missing here, and does not compile. */
const messages: Record<Exclude<KeyOf<QueueMessage>, 'job' | Details>, Bound> = {
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
  check: { rows: 'one', turns: 'none: operators alone cause it', quota: 'two for each check' },
};

describe('what runs in the background', () => {
  it('has a bound in rows, turns and a quota', () => {
    const running = [...Object.keys(starters), ...Object.keys(jobs)];
    expect(Object.keys(background).toSorted()).toEqual(running.toSorted());
    for (const bound of [background, messages].flatMap((table) => Object.values<Bound>(table)))
      expect(Object.values(bound).every((text) => text.length > 0)).toBe(true);
  });
});
