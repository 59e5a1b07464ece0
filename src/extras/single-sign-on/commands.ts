import { derived, type Groups } from '../../cli/operate/derive.ts';

export const commands: Groups = {
  account: { commands: [derived('single-sign-on-off', 'POST /accounts/:id/single-sign-on/off')] },
};
