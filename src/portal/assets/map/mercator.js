// Web Mercator on a square world that is 512 pixels wide at zoom 0, as MapLibre has it.

const lastLatitude = 85.0511;
const radians = Math.PI / 180;
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
/** How wide the world is at a zoom, in pixels. */
const widthAt = (zoom) => 512 * 2 ** zoom;

/** Where a position is on the world, from 0 to 1. */
export function onWorld([longitude, latitude]) {
  const sine = Math.sin(clamp(latitude, -lastLatitude, lastLatitude) * radians);
  return { x: 0.5 + longitude / 360, y: 0.5 - Math.atanh(sine) / (2 * Math.PI) };
}

/** Where a camera with its centre at `x` and `y` of the world looks at, in degrees. */
export const centerOf = ({ x, y }) => ({
  lng: (x - 0.5) * 360,
  lat: Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) / radians,
});

/** Turns positions into pixels of a picture of this size that the camera takes. */
export function projection({ x, y, zoom }, { width, height }) {
  const world = widthAt(zoom);
  return (position) => {
    const at = onWorld(position);
    return { x: (at.x - x) * world + width / 2, y: (at.y - y) * world + height / 2 };
  };
}

/** Tells of a line whether it lies on one side of such a picture, where nothing of it can be seen. */
export function outside({ x, y, zoom }, { width, height }) {
  const world = widthAt(zoom);
  const { lng: west, lat: north } = centerOf({ x: x - width / 2 / world, y: y - height / 2 / world });
  const { lng: east, lat: south } = centerOf({ x: x + width / 2 / world, y: y + height / 2 / world });
  return (line) =>
    line.every(([longitude]) => longitude < west) ||
    line.every(([longitude]) => longitude > east) ||
    line.every(([, latitude]) => latitude < south) ||
    line.every(([, latitude]) => latitude > north);
}

/** The camera that shows `box` as large as possible, with `padding` around it: where MapLibre's fitBounds leads. */
export function cameraAround([southWest, northEast], size, { top, right, bottom, left }, maxZoom) {
  const [low, high] = [onWorld(southWest), onWorld(northEast)];
  const across = Math.max(1, size.width - left - right) / (high.x - low.x);
  const down = Math.max(1, size.height - top - bottom) / (low.y - high.y);
  const zoom = Math.min(maxZoom, Math.log2(Math.min(across, down) / 512));
  const world = widthAt(zoom);
  const x = (low.x + high.x) / 2 - (left - right) / 2 / world;
  const y = (low.y + high.y) / 2 - (top - bottom) / 2 / world;
  return onEarth({ x, y, zoom }, size, maxZoom);
}

/** The nearest camera that shows nothing beyond the edges of the world. */
export function onEarth(camera, { width, height }, maxZoom) {
  const zoom = Math.max(Math.min(camera.zoom, maxZoom), Math.log2(Math.max(width, height) / 512));
  const [marginX, marginY] = [width, height].map((length) => length / 2 / widthAt(zoom));
  return { x: clamp(camera.x, marginX, 1 - marginX), y: clamp(camera.y, marginY, 1 - marginY), zoom };
}

/** How many metres a pixel is in the middle of a map. */
export const metresPerPixel = (map) =>
  (2 * Math.PI * 6_371_008.8 * Math.cos(map.getCenter().lat * radians)) / widthAt(map.getZoom());
