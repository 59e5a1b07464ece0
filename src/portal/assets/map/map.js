// Draws the map of each element with `data-map`, once it comes into view: as a still picture, and as a map that can be
// moved once somebody reaches for it. Its list of places stays for screen readers, and is what is seen without this
// script, or where there are no outlines to draw.
import { boxAround } from './clusters.js';
import { controlsOn } from './controls.js';
import { outlines } from './outlines.js';
import { pinsOn } from './pins.js';
import { stillMap } from './still.js';

/** Nothing is hidden by the buttons at the right. */
const padding = { top: 40, bottom: 40, left: 40, right: 64 };
/** A single point is shown with about this much around it; outlines have nothing more to show beyond the last zoom. */
const [firstZoom, lastOutlineZoom] = [7.5, 10];

const inView = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    inView.unobserve(target);
    draw(target);
  }
});
for (const figure of document.querySelectorAll('[data-map]')) inView.observe(figure);

function draw(figure) {
  const element = figure.querySelector('.map');
  const points = [...figure.querySelectorAll('[data-at]')].map((place) => ({
    at: JSON.parse(place.dataset.at),
    look: place.dataset.look,
    mark: place.dataset.mark,
    href: place.dataset.href,
    here: place.dataset.here !== undefined,
    name: place.textContent.trim().replaceAll(/\s+/g, ' '),
  }));
  const { style: tiles, line } = figure.dataset;
  const way = line && JSON.parse(line);
  const token = (name) => getComputedStyle(figure).getPropertyValue(name).trim();
  const bounds = boxAround([...points.map(({ at }) => at), ...(way ?? [])]);
  const still = stillMap(element, (detailed) => outlines(token, way, detailed), {
    ...{ bounds, padding, firstZoom, maxZoom: lastOutlineZoom },
  });
  const drawStill = () => still.draw().catch(() => figure.classList.add('map-failed'));

  let live;
  /** Returns the live map, or the still one where the browser cannot draw the other. */
  const reach = () => (live ??= goLive().catch(() => drawStill().then(() => still)));
  const goLive = async () => {
    const { liveMap } = await import('./live.js');
    const map = await liveMap(element, still, { tiles, way, token });
    still.remove();
    show(map);
    return map;
  };
  const parts = [pinsOn(element, points, reach), controlsOn(element, reach)];
  const show = (map) => {
    for (const showOn of parts) showOn(map);
  };
  show(still);
  if (tiles) return reach();
  element.addEventListener('pointerenter', reach, { once: true });
  return drawStill();
}
