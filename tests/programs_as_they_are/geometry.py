"""Geometry: rays, hulls, clipping, trees of points."""

import numpy as np

from programs_as_they_are.table import program


class Sphere:
    def __init__(self, center, radius, color):
        self.center, self.radius, self.color = center, radius, color

    def intersect(self, origin, direction):
        oc = origin - self.center
        b = np.dot(oc, direction)
        disc = b * b - (np.dot(oc, oc) - self.radius ** 2)
        if disc < 0:
            return None
        t = -b - np.sqrt(disc)
        return t if t > 1e-4 else None


@program(lambda n, rng: (np.array([0.1, 0.2, 3.0]), np.array([0.5, -0.3, 5.0]), n),
         argnums=(0, 1), sizes=(4, 6))
def rendered_brightness(first, second, width):
    scene = [Sphere(first, 1.0, 0.9), Sphere(second, 1.5, 0.6)]
    light = np.array([1.0, 1.0, -1.0]) / np.sqrt(3)
    origin = np.zeros(3)
    image = np.zeros((width, width))
    for i in range(width):
        for j in range(width):
            d = np.array([(j + 0.5) / width - 0.5, (i + 0.5) / width - 0.5, 1.0])
            d = d / np.linalg.norm(d)
            hit, nearest = None, np.inf
            for sphere in scene:
                t = sphere.intersect(origin, d)
                if t is not None and t < nearest:
                    hit, nearest = sphere, t
            if hit is None:
                continue
            point = origin + nearest * d
            normal = (point - hit.center) / hit.radius
            image[i, j] = hit.color * max(normal @ light, 0.05)
    return image.mean()


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


@program(lambda n, rng: (rng.uniform(-1, 1, (n, 2)),), sizes=(6, 11))
def hull_area(points):
    """Andrew's monotone chain."""
    pts = sorted((p[0], p[1]) for p in points)
    lower = []
    for p in pts:
        while len(lower) >= 2 and cross(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    upper = []
    for p in reversed(pts):
        while len(upper) >= 2 and cross(upper[-2], upper[-1], p) <= 0:
            upper.pop()
        upper.append(p)
    hull = lower[:-1] + upper[:-1]
    area = 0.0
    for (x1, y1), (x2, y2) in zip(hull, hull[1:] + hull[:1]):
        area += x1 * y2 - x2 * y1
    return area / 2


def circle(n, rng):
    angle = 2 * np.pi * np.arange(n) / n + 0.1
    return 1.2 * np.c_[np.cos(angle), np.sin(angle)], np.array([[-1, -1], [1, -1], [1, 1.0],
                                                                [-1, 1]])


@program(circle, argnums=(0, 1), sizes=(5, 8))
def clipped_polygon_area(subject, window):
    """Sutherland and Hodgman."""
    output = list(subject)
    for k in range(len(window)):
        a, b = window[k - 1], window[k]
        inputs, output = output, []
        for i in range(len(inputs)):
            p, q = inputs[i - 1], inputs[i]
            p_in, q_in = cross(a, b, p) >= 0, cross(a, b, q) >= 0
            if p_in != q_in:
                s = cross(a, b, p) / (cross(a, b, p) - cross(a, b, q))
                output.append(p + s * (q - p))
            if q_in:
                output.append(q)
    x = np.array([p[0] for p in output])
    y = np.array([p[1] for p in output])
    return 0.5 * (np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def build_kd(points, indices, depth=0):
    if len(indices) == 0:
        return None
    axis = depth % 2
    order = indices[np.argsort(points[indices, axis])]
    middle = len(order) // 2
    return (order[middle], build_kd(points, order[:middle], depth + 1),
            build_kd(points, order[middle + 1:], depth + 1))


@program(lambda n, rng: (rng.uniform(0, 1, (n, 2)), rng.uniform(0, 1, (3, 2))), argnums=(0, 1),
         sizes=(7, 12), compilations=2)
def nearest_by_kd_tree(points, queries):
    tree = build_kd(points, np.arange(len(points)))

    def search(node, q, depth, best):
        if node is None:
            return best
        index, left, right = node
        d = np.sum((points[index] - q) ** 2)
        best = min(best, d)
        axis = depth % 2
        gap = q[axis] - points[index, axis]
        near, far = (left, right) if gap < 0 else (right, left)
        best = search(near, q, depth + 1, best)
        if gap ** 2 < best:
            best = search(far, q, depth + 1, best)
        return best

    return sum(np.sqrt(search(tree, q, 0, np.inf)) for q in queries)
