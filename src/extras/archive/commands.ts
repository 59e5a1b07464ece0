import { derived, type Groups } from '../../cli/operate/derive.ts';

export const commands: Groups = {
  connection: { commands: [derived('repair-archive', 'POST /connections/:id/archive/repair')] },
};
