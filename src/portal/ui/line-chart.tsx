import { labelled, NumbersTable, niceStep, short } from './chart.tsx';

/** A line of a chart: its name, its look by class, and its value at each point; null where there is none. */
export type Line = { name: string; look: 'trace-main' | 'trace-soft'; values: (number | null)[] };

const height = 200;
const top = 8;
const plot = height - top - 24;

/**
 * Lines over the same points in time, with an axis, rules and a title per point; below them the same numbers as a
 * table. `summary` says in words what the chart shows.
 */
export const Lines = (props: {
  id: string;
  summary: string;
  unit: string;
  points: string[];
  lines: Line[];
}) => {
  const { id, summary, unit, points, lines } = props;
  const largest = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const step = niceStep(largest);
  const highest = step * Math.max(1, Math.ceil(largest / step));
  const y = (value: number) => round(top + plot * (1 - value / highest));
  const width = 100 / Math.max(1, points.length);
  return (
    <>
      <svg class="chart" width="100%" height={height} role="img" aria-labelledby={`${id}-title`}>
        <title id={`${id}-title`}>{summary}</title>
        {Array.from({ length: highest / step + 1 }, (_, i) => (
          <>
            <line class={i === 0 ? 'axis' : 'rule'} x1="0" x2="100%" y1={y(i * step)} y2={y(i * step)} />
            <text class="y" x="-8" y={y(i * step)}>
              {short(i * step)}
            </text>
          </>
        ))}
        <svg
          width="100%"
          height={height}
          viewBox={`0 0 ${points.length} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {lines.flatMap(({ look, values }) =>
            stretches(values).map((stretch) => (
              <polyline
                class={`trace ${look}`}
                points={stretch.map(([i, value]) => `${i + 0.5},${y(value)}`).join(' ')}
              />
            )),
          )}
        </svg>
        {lines.flatMap(({ look, values }) =>
          stretches(values)
            .filter(({ length }) => length === 1)
            .map(([[i, value] = [0, 0]]) => (
              <circle class={`dot-${look}`} cx={`${round(width * (i + 0.5))}%`} cy={y(value)} r="3" />
            )),
        )}
        {points.map((name, i) => (
          <rect class="hit" x={`${round(width * i)}%`} width={`${round(width)}%`} y={top} height={plot}>
            <title>{titleOf(name, lines, i, unit)}</title>
          </rect>
        ))}
        {labelled(points.map((name) => ({ name, values: [] }))).map((i) => (
          <text
            class={`x${i === 0 ? ' x-first' : i === points.length - 1 ? ' x-last' : ''}`}
            x={`${round(width * (i + (i === 0 ? 0 : i === points.length - 1 ? 1 : 0.5)))}%`}
            y={height - 4}
          >
            {points[i]}
          </text>
        ))}
      </svg>
      <NumbersTable
        caption={summary}
        head={lines.map(({ name }) => `${name}, ${unit}`)}
        columns={points.map((name, i) => ({ name, values: lines.map(({ values }) => values[i] ?? null) }))}
      />
    </>
  );
};

/** What the lines of a chart mean. */
export const LineLegend = ({ lines }: { lines: Pick<Line, 'name' | 'look'>[] }) => (
  <ul class="legend-row">
    {lines.map(({ name, look }) => (
      <li>
        <svg class="swatch swatch-line" aria-hidden="true">
          <line class={`trace ${look}`} x1="0" x2="20" y1="5" y2="5" />
        </svg>
        {name}
      </li>
    ))}
  </ul>
);

/** The stretches without gaps, as points. */
function stretches(values: (number | null)[]): [place: number, value: number][][] {
  const found: [number, number][][] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last?.at(-1)?.[0] === i - 1) last.push([i, value]);
    else found.push([[i, value]]);
  });
  return found;
}

function titleOf(name: string, lines: Line[], i: number, unit: string): string {
  const values = lines.flatMap((line) => {
    const value = line.values[i];
    return typeof value === 'number'
      ? [`${line.name.toLowerCase()} ${value.toLocaleString('en')} ${unit}`]
      : [];
  });
  return `${name}: ${values.join(', ') || 'nothing'}`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
