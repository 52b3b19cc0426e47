// The modules of this page become addresses of their own, each after those that it imports. From a
// file, browsers start a worker from a plain script only: it has what it imports within it.
{
  const urls = {};
  const plain = (source) => source.replace(/^import .*$/gm, "").replace(/^export /gm, "");
  let earlier = "";
  for (const { dataset, textContent } of document.querySelectorAll("script[data-module]")) {
    let source = textContent.replaceAll("import.meta.url", JSON.stringify(document.baseURI));
    for (const name in urls) source = source.replaceAll(`"./${name}"`, `"${urls[name]}"`);
    if (dataset.module === "worker.js") source = `(async () => {${earlier}${plain(source)}})();`;
    earlier += plain(source);
    const blob = new Blob([source], { type: "text/javascript" });
    urls[dataset.module] = URL.createObjectURL(blob);
  }
  import(urls["lab.js"]).catch((error) => {
    const place = document.getElementById("error");
    place.textContent = `This browser cannot run the page: ${error.message}`;
    place.hidden = false;
  });
}
