// The map that can be moved: MapLibre, which is large, and takes a machine without a graphics card a second to start.
import { followTheme, outlines, wantsCounties, wayLayers, waySources } from './outlines.js';

/** How far in a provider's tiles go. */
const lastTileZoom = 17;

/**
 * Puts MapLibre into `element`, where the still map is looking. `tiles` is the URL of a provider's style, if there is
 * one. Returns the map once its outlines are drawn, or once somebody moves it; throws where the browser cannot draw it.
 */
export async function liveMap(element, still, { tiles, way, token }) {
  const [maplibre] = await Promise.all([import('./maplibre-gl.mjs'), stylesheet('./maplibre-gl.css')]);
  const container = document.createElement('div');
  container.className = 'map-live';
  element.prepend(container);
  const styled = (detailed) => outlines(token, way, detailed);
  try {
    const map = new maplibre.Map({
      container,
      style: tiles ?? styled(wantsCounties(still)),
      center: still.getCenter(),
      zoom: still.getZoom(),
      maxZoom: tiles ? lastTileZoom : still.getMaxZoom(),
      attributionControl: tiles ? { compact: true } : false,
      cooperativeGestures: true,
      dragRotate: false,
      pitchWithRotate: false,
      renderWorldCopies: false,
      fadeDuration: 0, // each frame of a fade would be drawn in full
      locale: { 'Map.Title': 'Map' }, // the figure around it says of what
      // The page's own policy is to name nobody: a provider may ask who its key is used by.
      transformRequest: (url) => ({ url, referrerPolicy: tiles ? 'origin' : 'same-origin' }),
    });
    map.touchZoomRotate.disableRotation();
    if (tiles) showOnTiles(map, { way, token, styled, lastOutlineZoom: still.getMaxZoom() });
    else await showOutlines(map, styled);
    return map;
  } catch (error) {
    container.remove();
    throw error;
  }
}

/** Draws the way on a provider's style; without that style, on our outlines. */
function showOnTiles(map, { way, token, styled, lastOutlineZoom }) {
  let loaded = false;
  map.on('style.load', () => {
    if (!loaded && way) {
      map.addSource('way', waySources(way).way);
      for (const layer of wayLayers(token)) map.addLayer(layer);
    }
    loaded = true;
  });
  map.on('error', () => {
    if (loaded) return; // a tile that is missing
    loaded = true;
    map.setStyle(styled(true));
    map.setMaxZoom(lastOutlineZoom);
  });
}

/** Loads counties once they are wanted, and changes colours with the theme. Returns once something can be seen. */
function showOutlines(map, styled) {
  let detailed = wantsCounties(map);
  map.on('moveend', () => {
    if (detailed || !wantsCounties(map)) return;
    detailed = true;
    map.setStyle(styled(true));
  });
  followTheme(() => map.setStyle(styled(detailed)));
  return new Promise((drawn) => {
    map.once('load', drawn);
    map.once('movestart', drawn);
  });
}

function stylesheet(path) {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(path, import.meta.url).href;
  document.head.prepend(link); // ours comes after it
  return new Promise((loaded, failed) => {
    link.onload = loaded;
    link.onerror = failed;
  });
}
