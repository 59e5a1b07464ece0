import { useContext } from 'hono/jsx';
import { CopyButton } from './buttons.tsx';
import { PageReader } from './reader.ts';

/** A place in degrees, with the provider's address, if there is one. */
export type MapPlace = { latitude: number; longitude: number; address?: string | null | undefined };

export type MapPoint = {
  at: MapPlace;
  name: string;
  look:
    | 'accident'
    | 'risk-1'
    | 'risk-2'
    | 'risk-3'
    | 'risk-4'
    | 'risk-5'
    | 'start'
    | 'end'
    | 'vehicle';
  href?: string | undefined;
  /** The subject of the page: never clustered, and on top of others. */
  here?: boolean;
};

const maxMapPoints = 200;

/** A map of points, clustered, and of the route along `line`. Without script it is a list of the points. */
export const PlaceMap = (props: {
  label: string;
  points: MapPoint[];
  line?: (MapPlace | null)[] | undefined;
}) => {
  const { label } = props;
  const line = props.line?.filter((place) => place !== null);
  const points = props.points.slice(0, maxMapPoints);
  const style = useContext(PageReader).mapStyle;
  if (points.length === 0) return null;
  return (
    <section
      class="map-box"
      aria-label={label}
      data-map
      data-style={style}
      data-line={line && line.length > 1 ? JSON.stringify(line.map(inOrder)) : undefined}
    >
      <div class="map"></div>
      <ul class="map-places">
        {/* Of two that cover each other, the more important one is on top: it comes last. */}
        {points.toSorted(byWeight).map(({ at, name, look, href, here }) => (
          <li
            data-at={JSON.stringify(inOrder(at))}
            data-look={look}
            data-mark={markOf(look)}
            data-href={href}
            data-here={here}
          >
            {name} <span class="sub">{placeName(at)}</span>
          </li>
        ))}
      </ul>
      <script type="module" src="/portal/map/map.js"></script>
    </section>
  );
};

/** The name of a place: the provider's address, otherwise its coordinates. */
export const placeName = (place: MapPlace): string => place.address || coordinates(place);

/** The name of a place in a table: the provider's address, otherwise coordinates to about 100 metres. */
export const shortPlaceName = (place: MapPlace): string => place.address || coordinates(place, 3);

/** The provider's address, below it the coordinates to copy, and links to the maps that people have. */
export const FullPlace = ({ place }: { place: MapPlace }) => {
  const { latitude, longitude, address } = place;
  return (
    <>
      {address}
      {address && <br />}
      {coordinates(place)} <CopyButton text={`${latitude}, ${longitude}`} small />
      <ul class="sub flex flex-wrap gap-x-3" aria-label="Open in">
        {mapsOf(place).map(([name, href]) => (
          <li>
            <a href={href} rel="noreferrer">
              {name}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
};

const mapsOf = ({ latitude, longitude }: MapPlace): [name: string, href: string][] => {
  const at = `${latitude},${longitude}`;
  return [
    ['Google Maps', `https://www.google.com/maps/search/?api=1&query=${at}`],
    ['Apple Maps', `https://maps.apple.com/?ll=${at}&q=${at}`],
    [
      'OpenStreetMap',
      `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`,
    ],
  ];
};

/** "40.21502, −77.18934": latitude and longitude, to about a metre, or to fewer digits. */
export const coordinates = ({ latitude, longitude }: MapPlace, digits = 5): string =>
  [latitude, longitude].map((degrees) => degrees.toFixed(digits).replace('-', '−')).join(', ');

/** Labels, so that colour is not the only difference. */
const marks: { [look: string]: string } = { start: 'A', end: 'B' };
const markOf = (look: string): string | undefined => /^risk-(.)$/.exec(look)?.[1] ?? marks[look];

const weights: MapPoint['look'][] = [
  ...(['start', 'end', 'vehicle'] as const),
  ...(['risk-1', 'risk-2', 'risk-3', 'risk-4', 'risk-5', 'accident'] as const),
];

const byWeight = (a: MapPoint, b: MapPoint): number =>
  weights.indexOf(a.look) - weights.indexOf(b.look);

const inOrder = ({ latitude, longitude }: MapPlace): [longitude: number, latitude: number] => [
  longitude,
  latitude,
];
