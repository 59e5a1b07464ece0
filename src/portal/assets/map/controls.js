// The zoom buttons and the scale of a map. Like pins they are the same on a still map and a live one.
import { metresPerPixel } from './mercator.js';

/** How long the scale is at most, in pixels. */
const longest = 80;

/** Puts them into `element`. Returns what shows them for a map; `reach` returns the map to zoom, once it is there. */
export function controlsOn(element, reach) {
  const buttons = document.createElement('div');
  buttons.className = 'map-zoom';
  const zoomIn = zoomButton('+', 'Zoom in', async () => (await reach()).zoomIn());
  const zoomOut = zoomButton('−', 'Zoom out', async () => (await reach()).zoomOut());
  buttons.append(zoomIn, zoomOut);
  const units = scales[document.body.dataset.units === 'imperial' ? 'imperial' : 'metric'];
  const scale = document.createElement('div');
  scale.className = 'map-scale';
  element.append(buttons, scale);
  return (map) => {
    const update = () => {
      zoomIn.setAttribute('aria-disabled', map.getZoom() >= map.getMaxZoom()); // disabled, it would lose the focus
      const far = longest * metresPerPixel(map);
      const [unit, metres] = units.find(([, size]) => size <= far) ?? units.at(-1);
      const count = roundDown(far / metres);
      scale.style.width = `${(count * metres) / metresPerPixel(map)}px`;
      scale.textContent = `${count}\u00a0${unit}`;
    };
    update();
    map.on('move', update);
  };
}

function zoomButton(sign, name, zoom) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = sign;
  button.title = name;
  button.setAttribute('aria-label', name);
  button.addEventListener('click', zoom);
  return button;
}

/** The units of the scale, each with its meters, the largest first. */
const scales = {
  metric: [
    ['km', 1000],
    ['m', 1],
  ],
  imperial: [
    ['mi', 1609.344],
    ['ft', 0.3048],
  ],
};

/** The largest number like 1, 2, 3, 5, 10 or 20 that is not above this one. */
function roundDown(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return power * [5, 3, 2, 1].find((digit) => digit * power <= number);
}
