/**
 * Groups points that would cover each other on the screen: each joins the first group whose first point is nearer than
 * `distance`. `points` have `x` and `y` in pixels. Returns the groups, each with at least one point.
 */
export function clusters(points, distance) {
  const groups = [];
  for (const point of points) {
    const group = groups.find(
      ([first]) => Math.hypot(first.x - point.x, first.y - point.y) < distance,
    );
    if (group) group.push(point);
    else groups.push([point]);
  }
  return groups;
}

/** The smallest box around positions, as [[west, south], [east, north]] in degrees. */
export function boxAround(positions) {
  const [longitudes, latitudes] = [0, 1].map((axis) => positions.map((position) => position[axis]));
  return [
    [Math.min(...longitudes), Math.min(...latitudes)],
    [Math.max(...longitudes), Math.max(...latitudes)],
  ];
}
