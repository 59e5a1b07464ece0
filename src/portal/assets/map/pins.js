// The pins on a map, which are elements of the page, so that people reach them by keyboard.
import { boxAround, clusters } from './clusters.js';

/** Points nearer to each other than this (pixels) become one with their number. */
const distance = 34;

/** Puts a pin into `element`, which has the map, for each point, or for several that are close together. */
export function pinsOn(element, points, map) {
  const layer = element.appendChild(document.createElement('div'));
  let pins = new Map();
  const part = (those, pin) => {
    const box = boxAround(those.map(({ at }) => at));
    const [[west, south], [east, north]] = box;
    if (map.getZoom() < map.getMaxZoom() - 0.1 && (west !== east || south !== north))
      map.fitBounds(box, { padding: 64 });
    else openList(those, pin);
  };
  const place = () => {
    const before = pins;
    pins = new Map();
    for (const group of groupsOn(map, points)) {
      const key = group.join();
      const those = group.map((i) => points[i]);
      const pin =
        before.get(key) ?? (those.length === 1 ? pinOf(those[0]) : clusterOf(those, part));
      pins.set(key, pin);
      const { x, y } = map.project(middle(those));
      // Between whole pixels it would be blurred; on them it would stutter as it moves.
      const [left, top] = map.isMoving() ? [x, y] : [Math.round(x), Math.round(y)];
      pin.style.transform = `translate(-50%, -50%) translate(${left}px, ${top}px)`;
      if (!pin.isConnected) layer.append(pin);
    }
    for (const [key, pin] of before) {
      if (pins.has(key)) continue;
      if (pin === document.activeElement) successor(pins, key).focus({ preventScroll: true });
      pin.remove();
    }
  };
  place();
  map.on('move', place);
  map.on('moveend', place);
}

/** The points as they are together on a map, each by its place among `points`; what the page is about stays alone. */
function groupsOn(map, points) {
  const placed = points.map(({ at, here }, i) => ({ ...map.project(at), here, i }));
  const [here, others] = [true, false].map((is) => placed.filter((point) => point.here === is));
  return [...clusters(others, distance), ...here.map((one) => [one])].map((group) =>
    group.map(({ i }) => i),
  );
}

function middle(points) {
  const [[west, south], [east, north]] = boxAround(points.map(({ at }) => at));
  return [(west + east) / 2, (south + north) / 2];
}

/** Of the pins by the points that they stand for, the one that stands for the first of these now. */
function successor(pins, key) {
  const [first] = key.split(',');
  const [, pin] = [...pins].find(([other]) => other.split(',').includes(first));
  return pin;
}

function pinOf({ look, mark, href, name, here }) {
  const pin = document.createElement(href ? 'a' : 'span');
  pin.className = `pin ${look}${here ? ' here' : ''}`;
  pin.textContent = mark ?? '';
  pin.title = name;
  if (href) pin.href = href;
  else {
    pin.setAttribute('role', 'img');
    pin.tabIndex = -1; // can take over the focus of a button that has parted
  }
  pin.setAttribute('aria-label', mark ? `${mark}: ${name}` : name); // what can be seen is part of its name
  return pin;
}

/** A button that zooms to its points; where that does not part them, it lists them. */
function clusterOf(points, part) {
  const button = document.createElement('button');
  button.type = 'button';
  // Points come with the least important first.
  button.className = `pin cluster ${points.at(-1).look}`;
  button.textContent = points.length;
  button.setAttribute('aria-label', `${points.length} places`);
  button.addEventListener('click', () => part(points, button));
  return button;
}

/** Lists points under a button, until somebody clicks elsewhere or presses Escape. */
function openList(points, button) {
  const list = document.createElement('ul');
  list.className = 'map-list';
  list.popover = 'auto';
  list.append(
    ...points.map(({ href, name }) => {
      const entry = document.createElement('li');
      const text = document.createElement(href ? 'a' : 'span');
      if (href) text.href = href;
      text.textContent = name;
      entry.append(text);
      return entry;
    }),
  );
  list.addEventListener('toggle', ({ newState }) => newState === 'closed' && list.remove());
  button.after(list);
  list.showPopover({ source: button });
  list.querySelector('a')?.focus();
}
