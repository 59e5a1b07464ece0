import { Hono } from 'hono';
import { type App, type Context, orNotFound } from '../../core/platform/http/context.ts';
import type { Pages } from '../../ui/added.ts';
import { PostForm, Submit } from '../../ui/buttons.tsx';
import { page, timeZoneOf } from '../../ui/layout.tsx';
import { chooseSummary, isOffKey, summaryHour, turnSummaryOff } from './summaries.ts';

/**
 * Turns off somebody's daily summary by the link in it, without a session. A program that opens links turns nothing off;
 * mail programs post to it (RFC 8058).
 */
async function summaryOff(c: Context): Promise<Response> {
  const { person = '', key = '' } = c.req.query();
  orNotFound((await isOffKey(c.env, person, key)) || undefined);
  if (c.req.method === 'GET')
    return page(
      c,
      { title: 'Turn off the daily summary?', lead: 'Other emails are sent as before.' },
      <PostForm>
        <Submit name="Turn it off" />
      </PostForm>,
    );
  await turnSummaryOff(c.env, person);
  return page(
    c,
    {
      title: 'The daily summary is off',
      lead: 'To get it again, sign in and choose it under Settings → Notifications.',
    },
    <a class="btn" href="/portal">
      Sign in
    </a>,
  );
}

export const pages: Pages = {
  mailed: new Hono<App>().on(['GET', 'POST'], '/summary/off', summaryOff),
  email: {
    name: 'summary',
    label: 'A summary each morning',
    note: `At ${summaryHour}:00 in your time zone: accidents that need attention, yesterday's safety events by risk, the drivers with the most, and connections without data.`,
    isChosen: ({ summaryDueAt }) => summaryDueAt !== null,
    choose: (c, isChosen) => (db) =>
      chooseSummary(db, c.get('caller'), c.get('session').user.id, isChosen ? timeZoneOf(c) : null),
  },
};
