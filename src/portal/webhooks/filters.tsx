import { incidentTypes } from '../../fleet/incidents/types.ts';
import { asCaller } from '../../platform/db/guard.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { selectGroups } from '../../webhooks/alerts/rules.ts';
import { Filters } from '../../webhooks/filters.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import { updateWebhook } from '../../webhooks/service.ts';
import { levelOptions } from '../ui/accidents.tsx';
import { done, submit } from '../ui/form.ts';
import { Buttons, Choices, Form, type Offered, Select } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Panel } from '../ui/parts.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf } from './words.ts';

/** The form of a webhook's filters. */
export async function show(c: Context) {
  const caller = c.get('caller');
  const [webhook, [found]] = await Promise.all([
    requireWebhook(c),
    asCaller(c.env, caller, (db) => [selectGroups(db, caller)]),
  ]);
  const { filters = {}, notificationTypes } = webhook;
  const groups = [...new Set([...found.map(({ name }) => name), ...(filters.vehicleGroups ?? [])])];
  return page(
    c,
    {
      title: 'Filters',
      above: aboveOf(webhook),
      lead: 'Filters apply to new notifications. Without any, the webhook receives everything.',
      narrow: true,
    },
    <Panel id="filters" title="What to send">
      <Form look="panel-body grid gap-4">
        {notificationTypes.includes(EVENT) && (
          <>
            <Select
              name="minEventRisk"
              label="Safety events"
              value={String(filters.minEventRisk ?? '')}
              options={risks}
            />
            <Choices
              name="incidentTypes"
              legend="Only these incident types"
              columns={2}
              chosen={filters.incidentTypes}
              options={incidentTypes.map((type) => [type, type])}
            />
          </>
        )}
        {notificationTypes.includes(ACCIDENT) && (
          <Choices
            name="accidentLevels"
            legend="Only these accident levels"
            columns={2}
            chosen={filters.accidentLevels?.map(String)}
            options={levelOptions}
          />
        )}
        {groups.length > 0 && (
          <Choices
            name="vehicleGroups"
            legend="Only vehicles in these groups"
            columns={2}
            chosen={filters.vehicleGroups}
            options={groups.map((group) => [group, group])}
            hint="Accidents of unknown vehicles are always sent."
          />
        )}
        <Buttons send="Save" back={pathOf(webhook)} />
      </Form>
    </Panel>,
  );
}

const risks: Offered[] = [
  ['', 'Of any risk'],
  ['2', 'Risk 2 to 5'],
  ['3', 'Risk 3 to 5'],
  ['4', 'Risk 4 to 5'],
  ['5', 'Risk 5'],
];

export async function change(c: Context) {
  const webhook = await requireWebhook(c);
  const { id, revision } = webhook;
  return submit(
    c,
    async ({ value, values }) => {
      const chosen = {
        minEventRisk: value('minEventRisk') === '' ? [] : Number(value('minEventRisk')),
        incidentTypes: values('incidentTypes'),
        vehicleGroups: values('vehicleGroups'),
        accidentLevels: values('accidentLevels').map(Number),
      };
      const given = Object.entries(chosen).filter(([, of]) => typeof of === 'number' || of.length > 0);
      const filters = parse(Filters, Object.fromEntries(given));
      const input = { ...webhook, signing: undefined, oauth: undefined, filters };
      await updateWebhook(c.env, c.get('caller'), id, input, { revision });
      const said = given.length > 0 ? 'Filters were saved.' : 'This webhook has no filters.';
      return done(c, pathOf(webhook), said);
    },
    () => show(c),
    'minEventRisk',
  );
}
