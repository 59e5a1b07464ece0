import type { Child } from 'hono/jsx';
import { compact, percent } from '../../platform/text.ts';
import { Table } from './table.tsx';

/** A series of a chart: its name, and its look by class. Those that `fill` are stacked, a `trace` is a line. */
export type Series = {
  name: string;
  look: `fill-${1 | 2 | 3 | 4 | 5 | 'main' | 'bad'}` | `trace-${'main' | 'soft'}`;
};

/** A column: its name ("14:00", "Nov 18"), and its value of each series; null where there is none. */
export type Column = { name: string; values: (number | null)[]; before?: number | undefined };

const riskSeries: Series[] = ([1, 2, 3, 4, 5] as const).map((risk) => ({
  name: `Risk ${risk}`,
  look: `fill-${risk}`,
}));

const height = 200;
const top = 8;
const bottom = 24;
const plot = height - top - bottom;

/**
 * Stacked columns, before pale ones of an earlier time if given, or lines; with a title for each column, and the
 * numbers as a table. `summary` describes the chart in words.
 */
export const Chart = (props: { id: string; summary: string; series: Series[]; columns: Column[] }) => {
  const { id, summary, series, columns } = props;
  const isLine = ({ look }: Series) => look.startsWith('trace');
  const lines = series.filter(isLine);
  const axis = axisOf(
    columns.map(({ values, before = 0 }) => Math.max(before, lines.length > 0 ? most(values) : sum(values))),
  );
  const last = columns.length - 1;
  return (
    <>
      <svg class="chart" width="100%" height={height} role="img" aria-labelledby={`${id}-title`}>
        <title id={`${id}-title`}>{summary}</title>
        {axis.rules.map((value) => (
          <>
            <line
              class={value === 0 ? 'axis' : 'rule'}
              x1="0"
              x2="100%"
              y1={axis.y(value)}
              y2={axis.y(value)}
            />
            <text class="y" x="-8" y={axis.y(value)}>
              {compact(value)}
            </text>
          </>
        ))}
        {/* A column is 1 wide. */}
        <svg
          width="100%"
          height={height}
          viewBox={`0 0 ${columns.length} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {lines.map(({ look }, at) => (
            <path class={`trace ${look}`} d={lineOf(columns, at, axis)} />
          ))}
          {columns.map((column, i) => (
            <g class="bar">
              <title>{titleOf(column, series)}</title>
              {lines.length > 0 ? (
                <rect class="hit" x={i} width="1" y={top} height={plot} />
              ) : (
                <Stack {...{ column, i, series, axis }} />
              )}
            </g>
          ))}
        </svg>
        {labelled(last).map((i) => (
          <text
            class={`x${i === 0 ? ' x-first' : i === last ? ' x-last' : ''}`}
            x={percent((i + (i === 0 ? 0 : i === last ? 1 : 0.5)) / (last + 1), 2)}
            y={height - 4}
          >
            {columns[i]?.name}
          </text>
        ))}
      </svg>
      <details class="as-table">
        <summary>Show as a table</summary>
        <Table
          caption={summary}
          look=""
          items={columns}
          columns={[
            { head: 'Time', cell: ({ name }) => name },
            ...series.map(({ name }, at) => ({
              head: name,
              look: 'num',
              cell: ({ values }: Column) => values[at]?.toLocaleString('en') ?? '–',
            })),
          ]}
        />
      </details>
    </>
  );
};

function titleOf({ name, values, before }: Column, series: Series[]): string {
  const parts = series.map(
    (one, at) => `${values[at]?.toLocaleString('en') ?? 'no'} ${one.name.toLowerCase()}`,
  );
  return `${name}: ${parts.join(', ')}${before === undefined ? '' : `; ${before} before`}`;
}

const Stack = (props: { column: Column; i: number; series: Series[]; axis: Axis }) => {
  const { i, series, axis } = props;
  const { values, before = 0 } = props.column;
  return (
    <>
      <Part look="before" x={i + 0.02} width={0.96} from={axis.y(0)} to={axis.y(before)} />
      {series.map(({ look }, at) => (
        <Part
          look={look}
          x={i + 0.15}
          width={0.7}
          from={axis.y(sum(values.slice(0, at)))}
          to={axis.y(sum(values.slice(0, at + 1)))}
        />
      ))}
      {before > 0 && <path class="before-top" d={`M${i + 0.02} ${axis.y(before)}h0.96`} />}
    </>
  );
};

const Part = (props: { look: string; x: number; width: number; from: number; to: number }) => {
  const { look, x, width, from, to } = props;
  return from > to ? <rect class={look} x={x} width={width} y={to} height={round(from - to)} /> : null;
};

/** A line through the values, with gaps where there are none. An isolated value is a dash. */
const lineOf = (columns: Column[], at: number, axis: Axis): string =>
  columns
    .map(({ values: { [at]: value } }, i) => {
      if (value === null || value === undefined) return '';
      const goesOn = typeof columns[i - 1]?.values[at] === 'number';
      return goesOn ? `L${i + 0.5} ${axis.y(value)}` : `M${i + 0.4} ${axis.y(value)}h0.2`;
    })
    .join('');

/** Safety events per day, stacked by risk, with the total of each risk and `notes`. */
export const RiskChart = (props: {
  id: string;
  summary: string;
  columns: Column[];
  notes?: string[];
  before?: string;
}) => {
  const { notes = [], before, columns } = props;
  const entries = riskSeries.map((series, i) => ({
    ...series,
    total: sum(columns.map(({ values }) => values[i] ?? 0)).toLocaleString('en'),
    note: notes[i],
  }));
  return (
    <>
      <div class="mb-3">
        <Legend entries={entries.reverse()} before={before} />
      </div>
      <Chart id={props.id} summary={props.summary} series={riskSeries} columns={columns} />
    </>
  );
};

/** An axis from 0 to a round number not below the highest value, with its rules. */
type Axis = { y: (value: number) => number; rules: number[] };

function axisOf(values: number[]): Axis {
  const highest = Math.max(1, ...values);
  const step = niceStep(highest);
  const count = Math.ceil(highest / step);
  return {
    y: (value) => round(top + plot * (1 - value / (step * count))),
    rules: Array.from({ length: count + 1 }, (_, i) => i * step),
  };
}

/** A step of 1, 2 or 5 times a power of ten, three or four of which reach `highest`. */
function niceStep(highest: number): number {
  const rough = highest / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power);
}

/** The columns whose names fit under a chart: about five, evenly spaced, including the last. */
function labelled(last: number): number[] {
  const every = Math.max(1, Math.floor((last + 1) / 4));
  return Array.from({ length: last + 1 }, (_, i) => i).filter((i) => (last - i) % every === 0);
}

/** The meaning of a chart's colours and lines, with totals and notes; `before` names the pale columns. */
export const Legend = (props: {
  entries: (Series & { total?: Child; note?: Child })[];
  before?: string | undefined;
}) => (
  <ul class="legend-row">
    {props.entries.map(({ name, look, total, note }) => (
      <li>
        <svg class={look.startsWith('trace') ? 'swatch swatch-line' : 'swatch'} aria-hidden="true">
          {look.startsWith('trace') ? (
            <line class={`trace ${look}`} x2="20" y1="5" y2="5" />
          ) : (
            <rect class={look} width="10" height="10" rx="2" />
          )}
        </svg>
        {name} {total !== undefined && <b>{total}</b>} {note}
      </li>
    ))}
    {props.before && (
      <li>
        <svg class="swatch swatch-line" viewBox="0 0 20 10" aria-hidden="true">
          <rect class="before" width="20" height="10" />
          <line class="before-top" x2="20" y1="1" y2="1" />
        </svg>
        {props.before}
      </li>
    )}
  </ul>
);

/** Small columns beside a number: successes, and below them failures. */
export const Spark = ({ columns }: { columns: { good: number; bad?: number }[] }) => {
  const highest = Math.max(1, ...columns.map(({ good, bad = 0 }) => good + bad));
  const y = (count: number) => round(24 - (count / highest) * 23);
  return (
    <svg class="spark" viewBox="0 0 96 24" preserveAspectRatio="none" aria-hidden="true">
      <line x1="0" x2="96" y1="24" y2="24" />
      {columns.map(({ good, bad = 0 }, i) => (
        <>
          <Part look="fill-bad" x={i * 4 + 0.5} width={3} from={24} to={y(bad)} />
          <Part look="fill-main" x={i * 4 + 0.5} width={3} from={y(bad)} to={y(bad + good)} />
        </>
      ))}
    </svg>
  );
};

const sum = (values: (number | null)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);
const most = (values: (number | null)[]): number => Math.max(...values.map((value) => value ?? 0));
const round = (value: number): number => Math.round(value * 100) / 100;
