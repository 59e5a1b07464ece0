import { incidentTypes } from '../../fleet/incidents/types.ts';
import { asCaller } from '../../platform/db/guard.ts';
import { parse } from '../../platform/fields.ts';
import type { Context } from '../../platform/http/context.ts';
import { selectGroups } from '../../webhooks/alerts/rules.ts';
import { Filters } from '../../webhooks/filters.ts';
import { ACCIDENT, accidentLevels, EVENT, levelNames } from '../../webhooks/notifications/types.ts';
import { updateWebhook } from '../../webhooks/service.ts';
import { done, readForm, submit } from '../ui/form.ts';
import { Choice, LinkButton, Select, Submit } from '../ui/forms.tsx';
import { page } from '../ui/layout.tsx';
import { Panel } from '../ui/parts.tsx';
import { requireWebhook } from './webhook.tsx';
import { aboveOf, pathOf } from './words.ts';

/** The form of what a webhook is notified of, of what it subscribes to. */
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
      lead: 'For what comes in from now on. With nothing chosen, everything passes.',
      narrow: true,
    },
    <Panel id="filters" title="Notify this webhook of">
      <form class="panel-body grid gap-4" method="post" action={`${pathOf(webhook)}/filters`}>
        {notificationTypes.includes(EVENT) && (
          <>
            <Select
              name="minEventRisk"
              label="Safety events"
              value={String(filters.minEventRisk ?? '')}
              options={[
                ['', 'Of any risk'],
                ...[2, 3, 4].map((risk): [string, string] => [String(risk), `Risk ${risk} to 5`]),
                ['5', 'Risk 5'],
              ]}
            />
            <Choices
              name="incidentTypes"
              legend="Only these incident types"
              chosen={filters.incidentTypes}
              options={incidentTypes.map((type) => [type, type])}
            />
          </>
        )}
        {notificationTypes.includes(ACCIDENT) && (
          <Choices
            name="accidentLevels"
            legend="Only these levels of accidents"
            chosen={filters.accidentLevels?.map(String)}
            options={accidentLevels.map((level) => [
              String(level),
              `Level ${level}, ${levelNames[level - 1]?.toLowerCase()}`,
            ])}
          />
        )}
        {groups.length > 0 && (
          <Choices
            name="vehicleGroups"
            legend="Only vehicles in these groups"
            chosen={filters.vehicleGroups}
            options={groups.map((group) => [group, group])}
            hint="Accidents of vehicles that we do not know yet always pass."
          />
        )}
        <div class="actions">
          <Submit name="Save" />
          <LinkButton href={pathOf(webhook)} name="Cancel" weight="ghost" />
        </div>
      </form>
    </Panel>,
  );
}

/** With more choices than this they scroll. */
const plenty = 8;

const Choices = (props: {
  name: string;
  legend: string;
  chosen: string[] | undefined;
  options: [value: string, label: string][];
  hint?: string;
}) => (
  <fieldset class="grid gap-3">
    <legend class="mb-1 font-medium">{props.legend}</legend>
    <div class={`choices choices-2${props.options.length > plenty ? ' choices-many' : ''}`}>
      {props.options.map(([value, label]) => (
        <Choice
          type="checkbox"
          name={props.name}
          value={value}
          checked={props.chosen?.includes(value) ?? false}
          label={label}
        />
      ))}
    </div>
    {props.hint && <p class="hint">{props.hint}</p>}
  </fieldset>
);

/** Saves what was chosen. */
export async function change(c: Context) {
  const webhook = await requireWebhook(c);
  const { value, values } = await readForm(c);
  const chosen = {
    minEventRisk: value('minEventRisk') === '' ? [] : Number(value('minEventRisk')),
    incidentTypes: values('incidentTypes'),
    vehicleGroups: values('vehicleGroups'),
    accidentLevels: values('accidentLevels').map(Number),
  };
  const given = Object.entries(chosen).filter(([, of]) => typeof of === 'number' || of.length > 0);
  const { id, revision } = webhook;
  return submit(
    async () => {
      const filters = parse(Filters, Object.fromEntries(given));
      await updateWebhook(
        c.env,
        c.get('caller'),
        id,
        { ...webhook, signing: undefined, filters },
        { revision },
      );
      return done(
        c,
        pathOf(webhook),
        given.length > 0 ? 'Filters were saved.' : 'This webhook has no filters.',
      );
    },
    ({ message }) => done(c, `${pathOf(webhook)}/filters`, message, 'bad'),
  );
}
