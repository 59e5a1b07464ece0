import { derived, type Groups } from '../../cli/operate/derive.ts';
import type { Pull } from './operations.ts';

const pull = ({ feeds, state, isWithdrawn, refusals, warnings, unmapped, ...more }: Pull) => ({
  ...more,
  state: isWithdrawn ? 'consent withdrawn' : state,
  feeds: feeds.map(({ feed, everyMinutes, problem, history }) => ({
    feed,
    every: `${everyMinutes} min`,
    history: history && `${Math.floor(history.share * 100)} %`,
    state: problem ? (problem.isFailing ? 'fails' : 'tried again') : 'works',
    problem: problem && `${problem.advice} (since ${problem.since}, next try ${problem.nextAt})`,
  })),
  'rejected records': refusals,
  'records with warnings': warnings,
  'unmapped incident labels': unmapped,
});

export const commands: Groups = {
  connection: {
    commands: [
      derived('status', 'GET /connections/:id/pull', { shown: pull }),
      derived('pause', 'POST /connections/:id/pause', { shown: pull }),
      derived('resume', 'POST /connections/:id/resume', { shown: pull }),
      derived('pull', 'POST /connections/:id/pull', { shown: pull }),
      derived('credential', 'PUT /connections/:id/credential', { shown: pull }),
      derived('webhook-secret', 'PUT /connections/:id/webhook-secret', { shown: pull }),
    ],
  },
  'connect-link': {
    about: 'Manage links by which somebody outside the account connects a provider',
    commands: [
      derived('create', 'POST /accounts/:id/connect-links'),
      derived('list', 'GET /accounts/:id/connect-links', {
        shown: ({ id, name, connectionId, withdrawnAt, expiresAt }) => {
          const unless = connectionId ? 'used' : `until ${expiresAt}`;
          return { id, name, state: withdrawnAt ? 'consent withdrawn' : unless };
        },
      }),
      derived('revoke', 'DELETE /connect-links/:id'),
    ],
  },
};
