import { listed } from '../../../texts/words.ts';
import type { Notified, Problem, SetupStep } from '../../../ui/added.ts';
import { connectionPath } from '../../../ui/lists/records.tsx';
import type { FoundNotified } from '../../../ui/read/attention.ts';
import { selectNotified, selectUncovered, whyUncovered } from '../coverage.ts';
import { notificationsPath } from './notifications.tsx';

/** Who is notified of accidents, and of which nobody is, on the overview. */
export const notified: Notified = {
  select: (env, db, caller, needsCover) => ({
    names: selectNotified(env, db, caller),
    uncovered: selectUncovered(env, db, caller, needsCover),
  }),
  show: ({ names, uncovered }) => ({
    steps: [choosing(names.map(({ name }) => name))],
    problems: unnotified(uncovered),
  }),
};

const choosing = (names: string[]): SetupStep => ({
  id: 'people',
  name: 'Who is notified of accidents?',
  isDone: names.length > 0,
  text: [
    names.length > 0 ? `Notified: ${listed(names)}. ` : 'No person or team channel yet. ',
    <a href={notificationsPath}>Emails and team channels</a>,
  ],
  href: notificationsPath,
  button: 'Choose who',
});

/** All connections whose accidents nobody is notified of, as one problem. */
function unnotified([first, ...others]: FoundNotified['uncovered']): Problem[] {
  if (!first) return [];
  const names = [first, ...others].map(({ name }) => `“${name}”`);
  const problem = {
    mood: 'warn',
    title: `Nobody is notified of accidents of ${listed(names)}`,
    text: whyUncovered,
  } as const;
  const { name: about } = first;
  return others.length > 0
    ? [{ ...problem, href: '/portal/webhooks', name: 'See the webhooks' }]
    : [{ ...problem, href: connectionPath(first), name: 'See the connection', about }];
}
