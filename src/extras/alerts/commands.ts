import { derived, type Groups } from '../../cli/operate/derive.ts';

export const commands: Groups = {
  channel: {
    about: 'Manage team channels: where an account is notified in Slack, Teams or by HTTPS',
    commands: [
      derived('add', 'POST /accounts/:id/channels'),
      derived('list', 'GET /accounts/:id/channels', {
        shown: ({ id, kind, name, host, problem }) => ({ id, kind, name, host, problem }),
      }),
      derived('test', 'POST /channels/:id/test'),
      derived('remove', 'DELETE /channels/:id'),
    ],
  },
};
