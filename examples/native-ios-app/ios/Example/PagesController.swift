import LaunchwayApple
import UIKit
import WebKit

/// The only screen: the pages that the SDK chose, and below them what the SDK does.
final class PagesController: UIViewController {
    private let pages = WKWebView()
    private let events = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        view.backgroundColor = .systemBackground
        events.numberOfLines = 0
        let stack = UIStackView(arrangedSubviews: [pages, events])
        stack.axis = .vertical
        stack.frame = view.bounds
        stack.autoresizingMask = [.flexibleWidth, .flexibleHeight]
        stack.insetsLayoutMarginsFromSafeArea = true
        stack.isLayoutMarginsRelativeArrangement = true
        view.addSubview(stack)

        let launchway = Launchway.start()
        // Without an update these are the pages of the binary.
        let folder = launchway.currentPath() ?? Bundle.main.bundleURL.appendingPathComponent("www")
        pages.loadFileURL(folder.appendingPathComponent("index.html"), allowingReadAccessTo: folder)
        launchway.addListener { [weak self] event in
            guard event.kind != .downloadProgress else { return }
            let parts = [event.kind.rawValue, event.update?.version, event.reason]
            self?.show(parts.compactMap { $0 }.joined(separator: ", "))
        }
    }

    private func show(_ line: String) {
        events.text = [events.text, line].compactMap { $0 }.joined(separator: "\n")
    }
}
