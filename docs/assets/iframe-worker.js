// Searches in a hidden frame where the browser allows no workers: on a page that was opened from a disk. Without this
// file, MkDocs would load one like it from another site.

class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    this.inside = frame.contentWindow;
    const page = frame.contentDocument;
    page.open();
    page.write("<!doctype html><title>Search</title>");
    page.close();
    this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
    const script = page.createElement("script");
    this.ready = new Promise((resolve) => script.addEventListener("load", resolve));
    script.src = url;
    page.body.append(script);
  }

  async postMessage(data) {
    await this.ready;
    this.inside.dispatchEvent(new MessageEvent("message", {data}));
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
