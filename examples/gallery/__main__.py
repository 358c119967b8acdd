"""The command: `python -m examples.gallery [NAME ...] [--times] [--pictures] [--page]`."""

from __future__ import annotations

import argparse

from threadpoolctl import threadpool_limits

from examples.gallery import NAMES, load


def main() -> None:
    """Run the examples that are named, or time, draw or show all of them."""
    parser = argparse.ArgumentParser("python -m examples.gallery", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"all, or some of {', '.join(NAMES)}")
    parser.add_argument("--times", action="store_true",
                        help="time value and gradient, beside JAX where it is installed")
    parser.add_argument("--pictures", action="store_true", help="draw the pictures of docs/gallery")
    parser.add_argument("--page", action="store_true", help="write docs/gallery.md again")
    options = parser.parse_args()
    names = options.names or NAMES
    if options.times or options.pictures or options.page:
        # Before the limit, which applies to libraries that are loaded.
        from examples.gallery import _page, _times
    else:
        for name in names:
            load(name)
    with threadpool_limits(1):
        if options.times:
            _times.write(names)
        if options.pictures:
            _page.draw(names)
        if options.page:
            _page.PAGE.write_text(_page.page(), encoding="utf-8")
        if not (options.times or options.pictures or options.page):
            for name in names:
                print(f"\n{(load(name).__doc__ or '').partition(chr(10))[0]}")
                load(name).main()


if __name__ == "__main__":
    main()
