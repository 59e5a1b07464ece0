import { derived, type Groups } from '../../cli/operate/derive.ts';

export const commands: Groups = {
  vehicle: {
    about: 'Set the external ids of vehicles',
    commands: [derived('update', 'PATCH /vehicles/:id')],
  },
};
