import { incidentTypes } from '../../core/fleet/incidents/types.ts';
import { asCaller } from '../../core/platform/db/guard.ts';
import { by } from '../../core/platform/http/context.ts';
import { capital } from '../../core/platform/text.ts';
import type { Pages } from '../../ui/added.ts';
import {
  boxes,
  choice,
  drawn,
  filled,
  mapped,
  numbers,
  valuesIn,
} from '../../ui/forms/form-fields.tsx';
import { offered } from '../../ui/forms/forms.tsx';
import { levelOptions, riskOptions } from '../../ui/parts.tsx';
import type { Filters } from './filters.ts';
import { selectGroups } from './groups.ts';

export const pages: Pages = {
  webhook: async (_, reading) => {
    const { filters } = await reading;
    const words = filters && inWords(filters).map((one) => <div>{capital(one)}</div>);
    return { facts: [['Filters', words ?? 'None']] };
  },
  webhookForm: {
    async draw(c, reading) {
      const caller = c.get('caller');
      const [webhook, groups] = await Promise.all([
        reading,
        asCaller(...by(c), (db) => selectGroups(db, caller)),
      ]);
      const names = new Set([
        ...groups.map(({ name }) => name),
        ...(webhook?.filters?.vehicleGroups ?? []),
      ]);
      return {
        folded: {
          id: 'filters',
          title: 'Filters',
          isSet: webhook?.filters !== undefined,
          hint: 'For new notifications. Without any, the webhook receives everything.',
          fields: drawn(fields([...names]), webhook?.filters),
        },
      };
    },
    bodyOf: (form) => ({ filters: filled(valuesIn(fields(), form)) }),
  },
};

const fields = (groups: string[] = []) => ({
  'filters.minEventRisk': mapped(
    choice('Safety events', riskOptions('Of any risk')),
    (risk) => risk && Number(risk),
  ),
  'filters.incidentTypes': boxes('Only these incident types', offered(incidentTypes)),
  'filters.accidentLevels': numbers(boxes('Only these accident levels', levelOptions)),
  'filters.vehicleGroups': boxes(
    'Only vehicles in these groups',
    offered(groups),
    'Accidents of unknown vehicles are always sent.',
  ),
});

/** A webhook's filters in words. */
const inWords = ({ minEventRisk, incidentTypes, vehicleGroups, accidentLevels }: Filters) => [
  ...(minEventRisk
    ? [`safety events of risk ${minEventRisk}${minEventRisk < 5 ? ' and above' : ''}`]
    : []),
  ...(incidentTypes ? [`incident types ${incidentTypes.join(', ')}`] : []),
  ...(accidentLevels ? [`accident levels ${accidentLevels.join(', ')}`] : []),
  ...(vehicleGroups ? [`vehicles in ${vehicleGroups.join(', ')}`] : []),
];
