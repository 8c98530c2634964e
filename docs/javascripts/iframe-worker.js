// Search runs in a worker, which browsers refuse to pages that were opened as files. There a hidden
// frame does the work of the worker, so that search works without any server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.setAttribute("aria-hidden", "true");
      document.body.append(frame);
      const inner = frame.contentWindow;
      const answer = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (typeof this.onmessage === "function") this.onmessage(event);
      };
      this.frame = frame;
      this.ready = new Promise((resolve, reject) => {
        inner.postMessage = answer;
        inner.importScripts = (...urls) =>
          urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve());
        this.load(url).then(resolve, reject);
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = resolve;
        script.onerror = reject;
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => {
        const inner = this.frame.contentWindow;
        inner.dispatchEvent(new inner.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
