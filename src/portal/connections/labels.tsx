import * as v from 'valibot';
import type { Connection } from '../../core/fleet/connections.ts';
import { incidentTypes } from '../../core/fleet/incidents/types.ts';
import { eventsLookedAt, unmappedOf, type WordCount } from '../../core/fleet/incidents/unmapped.ts';
import { choice, FormPanel } from '../../ui/forms/form-fields.tsx';
import { offered } from '../../ui/forms/forms.tsx';
import { type Column, TablePanel } from '../../ui/table.tsx';

const maxWords = 50;

/** The form that maps one of these labels; any that is sent is taken. */
export const labelFields = (labels: string[] = []) => ({
  label: {
    ...choice('Label', offered(labels)),
    schema: v.pipe(v.string(), v.minLength(1, 'is required')),
  },
  type: choice('Incident type', [['', 'Not mapped'], ...offered(incidentTypes)]),
});

/** The labels of a connection that have no incident type, those that were given one, and the form for both. */
export const Labels = (props: { path: string; words: WordCount[]; connection: Connection }) => {
  const unmapped = unmappedOf(props.connection, props.words).slice(0, maxWords);
  const mapped = Object.entries(props.connection.incidentTypeMap ?? {});
  const labels = [...unmapped.map(({ word }) => word), ...mapped.map(([word]) => word)];
  return (
    <>
      <TablePanel
        title="Unmapped incident labels"
        live
        foot={`The ${maxWords} most frequent of the last ${eventsLookedAt.toLocaleString('en')} events. Events with only such labels have the type Other. Admins can map them.`}
        labels
        columns={unmappedColumns}
        items={unmapped}
      />
      {labels.length > 0 && (
        <FormPanel
          title="Map a label"
          to={`${props.path}/labels`}
          send="Save mapping"
          weight="plain"
          line="sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto]"
          hint="Applies to new events of this connection, within two minutes. Earlier ones keep their type."
          fields={labelFields(labels)}
        />
      )}
      <TablePanel title="Mapped incident labels" labels columns={mappedColumns} items={mapped} />
    </>
  );
};

const Label = ({ word }: { word: string }) => <code>{word}</code>;

const unmappedColumns: Column<WordCount>[] = [
  { head: 'Label', look: 'card-title', cell: Label },
  { head: 'Events', cell: ({ count }) => count.toLocaleString('en') },
];

const mappedColumns: Column<[word: string, types: string[]]>[] = [
  { head: 'Label', look: 'card-title', cell: ([word]) => <Label word={word} /> },
  { head: 'Incident type', cell: ([, types]) => types.join(', ') || 'No incident' },
];
