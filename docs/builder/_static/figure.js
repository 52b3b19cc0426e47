// <sojourn-figure experiment="…"> is an experiment of the laboratory that one can touch, once it
// is in sight. Where no script runs, what stands in the element is shown.
{
  const lab = new URL("../lab.html", document.currentScript.src);
  // What the elements hold must be there before it can be replaced.
  addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll("sojourn-figure")) {
      const address = new URL(`#experiment=${figure.getAttribute("experiment")}`, lab).href;
      const frame = document.createElement("iframe");
      Object.assign(frame, { src: address, loading: "lazy", title: "The lab" });
      const link = document.createElement("a");
      Object.assign(link, { href: address, textContent: "The same in a window of its own" });
      figure.replaceChildren(frame, link);
    }
  });
}
